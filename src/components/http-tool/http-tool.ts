import type * as z from "zod";
import { type ComponentDefinition, withoutNulls } from "../../core/component/component.ts";
import { inConfig, refuseWhereNew } from "../../core/component/refused-where-new.ts";
import { errorMessage, type Issue, TroupeError } from "../../core/errors.ts";
import { optionsOf, parseOptions } from "../../core/options/option-names.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { contextHeaders } from "../../core/steps/hops.ts";
import { withDefaults } from "../../core/json-schema/arrange.ts";
import { JsonSchema } from "../../core/json-schema/json-schema.ts";
import type { ToolSchema } from "../../core/models/chat-completion-client.ts";
import type { RetryPolicy } from "../../core/steps/retry.ts";
import { retryPolicyOf } from "../../core/steps/retry-config.ts";
import type { StepPolicy } from "../../core/steps/step-attempt.ts";
import { toolNameMistakes } from "../../core/tools/tool-name.ts";
import type { Tool, ToolRun } from "../../core/tools/tool.ts";
import { type ToolParameters, toolParameters } from "../../core/tools/function/tool-parameters.ts";
import { valueAsText } from "../../core/tools/function/value-as-text.ts";
import { LONGEST_TIMER_MS } from "../../core/wait.ts";
import { type OutgoingDependencies, Secrets } from "../../outgoing/dependencies.ts";
import { Address } from "./address.ts";
import { HttpToolError, readAnswer } from "./answer.ts";
import { type HttpToolOptions, httpToolConfigSchema, type HttpToolSettings } from "./config.ts";
import { openHeadersInRun, unknownValuesOfRun } from "../../outgoing/context-headers.ts";
import { isUnsent } from "../../outgoing/request-error.ts";
import { outgoingFetch } from "../../outgoing/outgoing-fetch.ts";
import { checkHeaders, headerNotes } from "../../outgoing/headers.ts";

const definition = {
  provider: "autogen_ext.tools.http.HttpTool",
  componentType: "tool",
  role: "tool",
  version: 1,
} as const;

/**
 * An HTTP request as a tool (AutoGen `HttpTool`). Arguments with a placeholder in the path go there; the others are the query of
 * a GET or DELETE, else the JSON body. A response with a bad status is an error that the model reads.
 *
 * @example
 * const weather = new HttpTool({
 *   name: "weather",
 *   description: "The weather in a city.",
 *   scheme: "https",
 *   host: "api.example.com",
 *   port: 443,
 *   path: "/cities/{city}/weather",
 *   method: "GET",
 *   headers: { authorization: "Bearer env:WEATHER_TOKEN" },
 *   jsonSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
 * });
 */
export class HttpTool implements Tool {
  /** @internal */
  static readonly component = httpToolDefinition;
  readonly definition: Tool["definition"] = definition;
  readonly name: string;
  readonly description: string;
  readonly schema: ToolSchema;
  readonly policy: StepPolicy;
  readonly retry: RetryPolicy | undefined;
  readonly remote = true;
  readonly #settings: HttpToolSettings;
  readonly #method: string;
  readonly #address: Address;
  readonly #parameters: ToolParameters<JsonObject>;
  readonly #jsonSchema: JsonSchema;
  readonly #dependencies: OutgoingDependencies;

  /** @throws ValueError naming the option that cannot be used */
  constructor(options: HttpToolOptions, dependencies: OutgoingDependencies = {}) {
    const settings = settingsOf(options);
    const { name, json_schema: parameters, method, policy } = settings;
    refuseWhereNew("HttpTool", mistakesOf(settings));
    checkHeaders(settings.headers ?? {});
    this.#settings = settings;
    this.#address = new Address(settings);
    this.#parameters = toolParameters(name, parameters, false);
    this.#jsonSchema = new JsonSchema(parameters);
    this.#dependencies = dependencies;
    this.#method = method ?? "POST";
    this.name = name;
    this.description = settings.description || "Sends a request to a server.";
    this.schema = { name, description: this.description, parameters, strict: false };
    this.policy = policy ?? (this.#method === "GET" ? "retry" : "never");
    this.retry = retryPolicyOf(settings);
  }

  async run(args: JsonObject, { signal, idempotencyKey, run, ...context }: ToolRun): Promise<Json> {
    const { headers: given, return_type, timeout } = this.#settings;
    const known = withDefaults(this.#parameters.parse(args), this.#jsonSchema) as JsonObject;
    const secrets = new Secrets(this.#dependencies, this.#address.origin, this.#settings);
    const headers = openHeadersInRun(given ?? {}, secrets, run);
    if (!headers.has("idempotency-key")) headers.set("idempotency-key", idempotencyKey);
    for (const [name, value] of Object.entries(contextHeaders(context))) headers.set(name, value);
    const { url, body } = this.#request(known);
    if (body !== null && !headers.has("content-type")) {
      headers.set("content-type", "application/json");
    }
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), Math.min(timeout * 1000, LONGEST_TIMER_MS));
    try {
      const either = AbortSignal.any([signal, late.signal]);
      const response = await outgoingFetch(this.#dependencies)(url.href, {
        method: this.#method,
        headers,
        body,
        redirect: "manual",
        signal: either,
        limit: "own",
        once: this.policy !== "retry",
      });
      return await readAnswer(response, {
        as: return_type ?? "text",
        redact: (text) => secrets.redact(text),
        signal: either,
      });
    } catch (error) {
      signal.throwIfAborted();
      throw this.#failure(error, late.signal.aborted, secrets);
    } finally {
      clearTimeout(timer);
    }
  }

  valueAsText(value: Json): string {
    return valueAsText(value);
  }

  toConfig(): JsonObject {
    const { description = null, headers = null } = this.#settings;
    // AutoGen refuses a config without these keys.
    return { ...withoutNulls(this.#settings), description, headers };
  }

  #request(args: JsonObject): { url: URL; body: string | null } {
    const url = this.#address.url(args);
    const rest = Object.entries(args).filter(([name]) => !this.#address.parameters.has(name));
    if (this.#method !== "GET" && this.#method !== "DELETE") {
      return { url, body: JSON.stringify(Object.fromEntries(rest)) };
    }
    for (const [name, value] of rest) {
      for (const item of [value].flat()) {
        if (item !== null) url.searchParams.append(name, valueAsText(item));
      }
    }
    return { url, body: null };
  }

  /** The error that the model reads; says whether the request is retried. */
  #failure(error: unknown, late: boolean, secrets: Secrets): TroupeError {
    const { host } = new URL(this.#address.origin);
    if (late) {
      const message = `"${host}" took longer than ${this.#settings.timeout} seconds.`;
      return new HttpToolError("http_timeout", message, { retryable: true, outage: false });
    }
    if (error instanceof TroupeError) return error;
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    const message = `"${host}" cannot be reached: ${secrets.redact(errorMessage(cause))}`;
    return new HttpToolError("http_connection", message, {
      retryable: true,
      unsent: isUnsent(error),
    });
  }
}

function httpToolDefinition(
  dependencies: OutgoingDependencies,
): ComponentDefinition<z.output<typeof httpToolConfigSchema>, HttpTool> {
  return {
    ...definition,
    configSchema: httpToolConfigSchema,
    refusals: (config) => inConfig(mistakesOf(config)),
    fromConfig: (config) => new HttpTool(optionsOf(httpToolConfigSchema, config), dependencies),
    notes: ({ scheme, host, port, headers }) =>
      headerNotes(headers, `${scheme}://${host}:${port ?? DEFAULT_PORTS[scheme]}`, dependencies),
  };
}

/** Mistakes that are refused in a new tool. */
function mistakesOf({ name, headers }: Pick<HttpToolSettings, "name" | "headers">): Issue[] {
  return [...toolNameMistakes(name), ...unknownValuesOfRun(headers, "headers")];
}

const DEFAULT_PORTS = { http: 80, https: 443 };

function settingsOf(options: HttpToolOptions): HttpToolSettings {
  const config = parseOptions(httpToolConfigSchema, options, "HttpTool");
  return { ...config, port: config.port ?? DEFAULT_PORTS[config.scheme] };
}
