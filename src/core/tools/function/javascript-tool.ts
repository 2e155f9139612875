import * as z from "zod";
import type { JavaScriptHost } from "../../code/javascript-host.ts";
import {
  type AnyComponentDefinition,
  componentDefinition,
  withoutNulls,
} from "../../component/component.ts";
import { inConfig } from "../../component/refused-where-new.ts";
import { errorMessage, TroupeError, ValueError } from "../../errors.ts";
import { hash64 } from "../../hash.ts";
import { jsonObjectSchema } from "../../json-object.ts";
import type { JsonObject } from "../../json.ts";
import { withDefaults } from "../../json-schema/arrange.ts";
import { JsonSchema } from "../../json-schema/json-schema.ts";
import type { ToolSchema } from "../../models/chat-completion-client.ts";
import type { RetryPolicy } from "../../steps/retry.ts";
import { retryPolicyOf, retrySchema } from "../../steps/retry-config.ts";
import type { Tool, ToolRun } from "../tool.ts";
import { toolNameMistakes } from "../tool-name.ts";
import { type ToolParameters, toolParameters } from "./tool-parameters.ts";

const provider = "troupe.tools.JavaScriptTool";

const definition = { provider, componentType: "tool", role: "tool", version: 1 } as const;

const LONGEST_SECONDS = 300;
/** The time limit of all modules that are loaded when their component is created. */
const CHECKS_SECONDS = 30;

/** The hash of a source, and the mistake in it. */
const findingSchema = z.object({ source: z.string(), error: z.string().optional() });

/** The keys of a config; `troupe` has what {@link findingSchema} describes. */
const configSchema = z.looseObject({
  name: z.string(),
  /** For the model. */
  description: z.string().min(1),
  /** JSON Schema of the arguments, of type object. */
  parameters: jsonObjectSchema.default({ type: "object", properties: {} }),
  /** A module whose default export is the function: `export default async function (args, context) { ... }`. */
  source_code: z.string().regex(/\S/, "must be the source of a module"),
  /** Seconds for a call. */
  timeout: z.int().min(1).max(LONGEST_SECONDS).default(30),
  /** The time for which a call is repeated while its sandbox is away. */
  retry: retrySchema.nullish(),
});
type Config = z.infer<typeof configSchema>;

/**
 * Tools whose source is JavaScript in their component.
 *
 * @param host undefined where no JavaScript runs: they are then known and cannot be loaded
 */
export function javaScriptToolDefinition(host: JavaScriptHost | undefined): AnyComponentDefinition {
  const inspect = async (sources: string[]): Promise<JsonObject[]> =>
    host === undefined ? [] : findingsOn(sources, host);
  return componentDefinition<Config>({
    ...definition,
    configSchema,
    prepare(config, preparation) {
      if (host === undefined || knownFinding(config) !== undefined) return undefined;
      return preparation.together(inspect, config.source_code);
    },
    refusals: ({ name }) => inConfig(toolNameMistakes(name)),
    fromConfig(config) {
      if (host === undefined) {
        throw refused(
          "source_code",
          "cannot run, because this server runs no JavaScript: give its Worker the binding LOADER, or set SANDBOX_URL, and leave the setting CODE at auto",
        );
      }
      const { error } = knownFinding(config) ?? {};
      if (error !== undefined) throw refused("source_code", `cannot be loaded: ${error}`);
      return new JavaScriptTool(config, host);
    },
    notes: () =>
      host === undefined ? [] : [{ path: "config.source_code", message: `runs ${host.place}` }],
  });
}

/** A function in JavaScript. Each call runs it where it reaches no secret of the server, and the network only if a sandbox has it. */
class JavaScriptTool implements Tool {
  readonly definition = definition;
  readonly name: string;
  readonly description: string;
  readonly schema: ToolSchema;
  /**
   * A call in a dynamic Worker changes nothing outside. In a sandbox with network it may: a sandbox answers a repeated key with the
   * recorded result, and runs no interrupted process again.
   */
  readonly policy = "retry";
  readonly retry: RetryPolicy | undefined;
  readonly remote = true;
  readonly #config: Config;
  readonly #host: JavaScriptHost;
  readonly #parameters: ToolParameters<JsonObject>;
  readonly #jsonSchema: JsonSchema;

  constructor(config: Config, host: JavaScriptHost) {
    const { name, description, parameters } = config;
    this.#config = config;
    this.#host = host;
    this.#parameters = objectParameters(name, parameters);
    this.#jsonSchema = new JsonSchema(parameters);
    this.name = name;
    this.description = description;
    this.schema = { name, description, parameters, strict: false };
    this.retry = retryPolicyOf(config);
  }

  /**
   * @returns the function's result as text
   * @throws ValueError naming the invalid arguments; TroupeError `javascript_error` with the message of the function's error
   */
  async run(args: JsonObject, call: ToolRun): Promise<string> {
    const { source_code: source, timeout: seconds } = this.#config;
    const known = withDefaults(this.#parameters.parseForCode(args), this.#jsonSchema) as JsonObject;
    const { run, signal, idempotencyKey, session, files, trace } = call;
    const outcome = await this.#host.call(
      { source, args: known, run, seconds },
      {
        attempt: 1,
        idempotencyKey,
        signal,
        ...(session !== undefined && { session }),
        ...(files && { files }),
        ...(trace && { trace }),
      },
    );
    if ("text" in outcome) return outcome.text;
    throw new TroupeError("javascript_error", outcome.error);
  }

  valueAsText(value: unknown): string {
    return String(value);
  }

  toConfig(): JsonObject {
    return withoutNulls(this.#config);
  }
}

/** @throws ValueError for a schema that describes no object */
function objectParameters(name: string, schema: JsonObject): ToolParameters<JsonObject> {
  if (schema["type"] !== "object") {
    throw refused("parameters", 'must be a JSON Schema of "type": "object"');
  }
  try {
    return toolParameters(name, schema, false);
  } catch (error) {
    throw refused("parameters", errorMessage(error));
  }
}

/** The finding on this source, if the config has it. */
function knownFinding({
  source_code: source,
  troupe,
}: Config): z.infer<typeof findingSchema> | undefined {
  const { success, data } = findingSchema.safeParse(troupe);
  return success && data.source === hashOf(source) ? data : undefined;
}

/** The findings on sources. @throws TroupeError `sandbox_unavailable` when one could not be loaded for another reason than itself */
async function findingsOn(sources: readonly string[], host: JavaScriptHost): Promise<JsonObject[]> {
  const signal = AbortSignal.timeout(CHECKS_SECONDS * 1000);
  try {
    const mistakes = await host.check(sources, { attempt: 1, idempotencyKey: "check", signal });
    return sources.map((source, at) =>
      withoutNulls({ source: hashOf(source), error: mistakes[at] }),
    );
  } catch (error) {
    throw new TroupeError(
      "sandbox_unavailable",
      `The source of a JavaScriptTool could not be loaded: ${errorMessage(error)}`,
      { cause: error },
    );
  }
}

function hashOf(source: string): string {
  return hash64(source) + hash64(source, 1);
}

function refused(path: string, message: string): ValueError {
  return new ValueError(`${path} ${message}`, { issues: [{ path, message }] });
}
