import * as z from "zod";
import {
  type AnyComponentDefinition,
  type Component,
  componentDefinition,
} from "../../../core/component/component.ts";
import { errorMessage, ValueError } from "../../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../../core/json.ts";
import type { TurnContext } from "../../../core/turn/turn-context.ts";
import { toolParameters } from "../../../core/tools/function/tool-parameters.ts";
import { aNumber, checkOptions, type OptionsSchema } from "../../../core/options/options.ts";

/** Answers that do not fit the schema before the request counts as declined. */
const MAX_ATTEMPTS = 5;

const paramsSchema = z.object({
  message: z.string(),
  requestedSchema: z.record(z.string(), z.json()).nullish(),
  mode: z.enum(["form", "url"]).nullish(),
  url: z.url({ protocol: /^https?$/ }).nullish(),
});

const elicitorConfigSchema = z.object({
  /** Seconds after which an unanswered request counts as cancelled. */
  timeout: z.number().positive().nullish(),
});

/** The answer to an elicitation, as in the protocol. */
type ElicitResult = { action: "accept"; content: JsonObject } | { action: "decline" | "cancel" };

/** Answers a server's questions to the user (AutoGen `Elicitor`). */
export interface Elicitor extends Component {
  /**
   * @param params the parameters of the request `elicitation/create`
   * @param source the name of the agent that made the call
   * @param ctx a scope of its own
   */
  elicit(params: JsonObject, source: string, ctx: TurnContext): Promise<JsonObject>;
}

const optionsSchema: OptionsSchema<{ timeoutSeconds?: number | null }> = z.object({
  timeoutSeconds: aNumber.nullish(),
});

/**
 * Passes a server's questions to the human who answers the run's requests; the run waits meanwhile. In component JSON it is
 * AutoGen's `StdioElicitor`, which asks at a terminal.
 */
export class HumanElicitor implements Elicitor {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_ext.tools.mcp.StdioElicitor",
    componentType: "mcp_elicitor",
    role: "mcp_elicitor",
    version: 1,
    configSchema: elicitorConfigSchema,
    fromConfig: ({ timeout }) => new HumanElicitor({ timeoutSeconds: timeout ?? null }),
    notes: () => [
      { path: "provider", message: "the question is one of the run's requests, kind input" },
    ],
  });

  readonly definition = HumanElicitor.component;
  readonly #timeoutSeconds: number | null;

  /** @param options `timeoutSeconds`: after which an unanswered question counts as cancelled */
  constructor(options: { timeoutSeconds?: number | null | undefined } = {}) {
    const { timeoutSeconds = null } = checkOptions(optionsSchema, options, "HumanElicitor");
    this.#timeoutSeconds = timeoutSeconds;
  }

  async elicit(params: JsonObject, source: string, ctx: TurnContext): Promise<JsonObject> {
    const { message, requestedSchema: given, mode, url } = paramsSchema.parse(params);
    const page = mode === "url" ? (url ?? undefined) : undefined;
    if (mode === "url" && page === undefined) {
      throw new ValueError("The server asks to open a page without naming one.");
    }
    const requestedSchema = page === undefined ? (given ?? {}) : {};
    const fields = requestedSchema["properties"];
    const first = page === undefined ? "" : `Open ${page} first. `;
    const how =
      isJsonObject(fields) && Object.keys(fields).length > 0
        ? `Answer with a JSON object that fits ${JSON.stringify(requestedSchema)}, or with "decline" or "cancel".`
        : 'Answer with "accept", "decline" or "cancel".';
    let problem = "";
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const timeout = this.#timeoutSeconds;
      const answer = await ctx.ask({
        id: ctx.id(),
        kind: "input",
        source,
        prompt: `${problem}The server of a tool that "${source}" calls asks: ${message}\n${first}${how}`,
        form: {
          message: problem + message,
          schema: { type: "object", ...requestedSchema },
          cancel: true,
          ...(page !== undefined && { url: page }),
        },
        timeoutSeconds: timeout,
        defaultAnswer: timeout === null ? null : { content: "cancel" },
      });
      if (!("content" in answer)) throw new ValueError(`"${source}" asked for an input`);
      try {
        const result = resultOf(answer.content, requestedSchema);
        return page !== undefined && result.action === "accept" ? { action: "accept" } : result;
      } catch (error) {
        if (!(error instanceof ValueError)) throw error;
        problem = `The last answer was not used: ${errorMessage(error)}\n`;
      }
    }
    return { action: "decline" };
  }

  toConfig(): JsonObject {
    return this.#timeoutSeconds === null ? {} : { timeout: this.#timeoutSeconds };
  }
}

/** @throws ValueError when the answer does not fit the schema */
function resultOf(content: string | JsonObject, schema: JsonObject): ElicitResult {
  const answer = contentOf(content);
  const word = typeof answer === "string" ? answer.trim().toLowerCase() : "";
  if (word === "decline" || word === "cancel") return { action: word };
  const values = {
    ...defaultsOf(schema),
    ...(typeof answer === "string" ? asValues(answer, schema) : answer),
  };
  return { action: "accept", content: toolParameters("the answer", schema, false).parse(values) };
}

/** The server's defaults for fields that are left out. */
function defaultsOf({ properties }: JsonObject): JsonObject {
  const fields = isJsonObject(properties) ? Object.entries(properties) : [];
  return Object.fromEntries(
    fields.flatMap(([name, field]) =>
      isJsonObject(field) && field["default"] !== undefined ? [[name, field["default"]]] : [],
    ),
  );
}

/** Clients of the HTTP API answer with a text or a chat message. */
function contentOf(answer: string | JsonObject): string | JsonObject {
  if (typeof answer === "string") return answer;
  const { type, content } = answer;
  const isMessage = typeof type === "string" && type.endsWith("Message");
  return isMessage && (typeof content === "string" || isJsonObject(content)) ? content : answer;
}

/** A text is JSON, or the value of the only field. */
function asValues(text: string, schema: JsonObject): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (isJsonObject(value)) return value;
  const { properties } = schema;
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  const [only] = names;
  if (only === undefined) {
    if (text.trim().toLowerCase() === "accept") return {};
    throw new ValueError('it must be "accept", "decline" or "cancel"');
  }
  if (names.length === 1) return { [only]: text };
  throw new ValueError(`it must be a JSON object with ${names.join(", ")}`);
}
