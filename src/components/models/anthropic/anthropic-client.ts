import type { ComponentDefinition } from "../../../core/component/component.ts";
import { optionsOf, parseOptions } from "../../../core/option-names.ts";
import { type OutgoingDependencies, Secrets } from "../../../outgoing/dependencies.ts";
import { headerNotes } from "../../../outgoing/headers.ts";
import { knownClaudeModel } from "../catalogue/hosted-models.ts";
import { unknownModelNotes } from "../catalogue/known-model.ts";
import { modelInfoFrom, resolveHeaders } from "../client-config.ts";
import { HttpModelClient, ModelAbilities } from "../http-model-client.ts";
import { ServerEvents, type ReadEvent } from "../http/server-events.ts";
import { keyNotes, resolveKey } from "../model-address.ts";
import { anthropicAddress } from "./address.ts";
import {
  type AnthropicChatCompletionClientOptions,
  type AnthropicConfig,
  anthropicConfigSchema,
  createArgsFrom,
} from "./config.ts";
import { claudeNotes } from "./notes.ts";
import { MessagesApi } from "./messages-api.ts";
import { anthropicSdks } from "./sdk.ts";
import {
  AnthropicError,
  APIConnectionError,
  APIConnectionTimeoutError,
  APIError,
} from "@anthropic-ai/sdk/error";
import type { TroupeError } from "../../../core/errors.ts";
import { fromSdkError } from "../http/sdk-errors.ts";
import type { EventSourceMessage } from "eventsource-parser";
import type { ErrorType } from "@anthropic-ai/sdk/resources/shared";
import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";

const definition = {
  provider: "autogen_ext.models.anthropic.AnthropicChatCompletionClient",
  componentType: "model",
  role: "model",
  version: 1,
} as const;

/**
 * Claude models by Anthropic's Messages API (AutoGen `AnthropicChatCompletionClient`). Makes one attempt per call.
 *
 * @example
 * const client = new AnthropicChatCompletionClient({ model: "claude-sonnet-4-5", apiKey: "env:ANTHROPIC_API_KEY" });
 * const result = await client.create([{ type: "UserMessage", source: "user", content: "Hello" }]);
 */
export class AnthropicChatCompletionClient extends HttpModelClient {
  /** @throws ValueError for invalid options */
  constructor(
    options: AnthropicChatCompletionClientOptions,
    dependencies: OutgoingDependencies = {},
  ) {
    const config = parseOptions(anthropicConfigSchema, options, "AnthropicChatCompletionClient");
    const { model } = config;
    const known = knownClaudeModel(model);
    const modelInfo = modelInfoFrom(config, known);
    const jsonObject = config.response_format?.type === "json_object";
    if (jsonObject) new ModelAbilities(model, modelInfo).checkOutput(true);
    super({
      definition,
      config,
      model,
      provider: "anthropic",
      modelInfo,
      tokenLimit: known?.tokenLimit,
      timeout: config.timeout,
      api: new MessagesApi(
        {
          model,
          modelInfo,
          createArgs: createArgsFrom(config),
          jsonObject,
          caches: config.cache !== "off",
        },
        () => {
          const address = anthropicAddress(config);
          const secrets = new Secrets(dependencies, address.url, config);
          const apiKey = resolveKey(config.api_key, address, secrets, dependencies);
          const defaultHeaders = resolveHeaders(config.default_headers, (value) =>
            secrets.resolve(value),
          );
          return {
            sdk: anthropicSdks.get({ baseURL: address.url, apiKey, defaultHeaders }, dependencies),
            path: "/v1/messages",
            secrets,
            chunks: (response) =>
              new ServerEvents(response, (event) => readEvent(event, response.headers)),
            toError: toModelError,
          };
        },
      ),
    });
  }
}

export function anthropicDefinition(
  dependencies: OutgoingDependencies,
): ComponentDefinition<AnthropicConfig, AnthropicChatCompletionClient> {
  return {
    ...definition,
    configSchema: anthropicConfigSchema,
    fromConfig: (config) =>
      new AnthropicChatCompletionClient(optionsOf(anthropicConfigSchema, config), dependencies),
    notes: (config) => [
      ...unknownModelNotes(config, knownClaudeModel(config.model)),
      ...claudeNotes(config),
      ...keyNotes(config.api_key, anthropicAddress(config), dependencies),
      ...headerNotes(
        config.default_headers,
        anthropicAddress(config).url,
        dependencies,
        "config.default_headers",
      ),
    ],
  };
}

/**
 * Maps an error of Anthropic's SDK to one that says whether another attempt makes sense.
 * @param redact removes secrets from a text
 */
function toModelError(error: unknown, redact: (text: string) => string): TroupeError {
  return fromSdkError<APIError>(error, redact, {
    base: AnthropicError,
    connection: APIConnectionError,
    timeout: APIConnectionTimeoutError,
    answered: APIError,
    read: ({ status, type, headers, error: body, message }) => {
      const said = (body as ErrorBody | null)?.error?.message;
      return {
        answer: { status, type, headers },
        // The SDK's message is the whole body.
        message: said === undefined ? message : `${status ?? ""} ${said}`.trim(),
      };
    },
  });
}

interface ErrorBody {
  error?: { message?: string };
}

interface ErrorEvent {
  type: "error";
  error?: { type?: ErrorType };
}

/**
 * Reads an event of a streamed message.
 *
 * @throws SyntaxError for data that is not JSON
 * @throws APIError for an event that reports an error
 */
function readEvent(
  { data }: EventSourceMessage,
  headers: Headers,
): ReadEvent<RawMessageStreamEvent> {
  const event = JSON.parse(data) as RawMessageStreamEvent | ErrorEvent;
  if (event.type === "error")
    throw new APIError(undefined, event, undefined, headers, event.error?.type);
  return event.type === "message_stop" ? { last: true } : { chunk: event };
}
