import * as z from "zod";
import type {
  AnyComponentDefinition,
  ChatCompletionClient,
  CreateOptions,
  JsonOutput,
  LLMMessage,
  ToolSchema,
} from "troupe";
import { errorMessage } from "#core/errors.ts";
import { ReplayChatCompletionClient, type Json, type JsonObject } from "troupe";
import { isJsonObject } from "#core/json.ts";
import { eachObject } from "../trace.ts";

const REPLAY_CLIENT = /(?:^|\.)(?:ReplayChatCompletionClient|replay_chat_completion_client)$/;

/** Under this key of its config a client finds its number. */
const NUMBER = "conformance_client";

/** Writes down every request to a model, the way traces do. */
export class ModelCallRecorder {
  #calls: JsonObject[] = [];
  /** The last tools shown to each client. */
  readonly #schemas = new Map<number, string>();

  /** What was asked since this was called last. */
  take(): JsonObject[] {
    const calls = this.#calls;
    this.#calls = [];
    return calls;
  }

  /** Instances of the replay client report what they are asked. */
  adapt(replay: AnyComponentDefinition): AnyComponentDefinition {
    if (replay.provider !== ReplayChatCompletionClient.component.provider) return replay;
    return {
      ...replay,
      configSchema: numbered(replay.configSchema),
      fromConfig: ({ number, config }: NumberedConfig, loader) =>
        this.#watched(replay.fromConfig(config, loader) as ChatCompletionClient, number),
    };
  }

  /** Requests without tools do not count. */
  #newSchemas(client: number, tools: readonly ToolSchema[]): boolean {
    const schemas = JSON.stringify(tools);
    if (tools.length === 0 || this.#schemas.get(client) === schemas) return false;
    this.#schemas.set(client, schemas);
    return true;
  }

  #watched(client: ChatCompletionClient, number: number): ChatCompletionClient {
    const record = (
      streaming: boolean,
      messages: readonly LLMMessage[],
      options: CreateOptions = {},
    ): JsonObject => {
      const { tools = [], toolChoice = "auto", jsonOutput } = options;
      const changed = this.#newSchemas(number, tools);
      const call: JsonObject = {
        client: number,
        streaming,
        messages: structuredClone(messages) as unknown as Json,
        tools: tools.map((tool) => tool.name),
        tool_choice: typeof toolChoice === "string" ? toolChoice : toolChoice.name,
        json_output: shownOutput(jsonOutput),
        ...(changed && { tool_schemas: structuredClone(tools) as unknown as Json }),
      };
      this.#calls.push(call);
      return call;
    };
    const watched: Pick<ChatCompletionClient, "create" | "createStream"> = {
      create: async (messages, options) => {
        const call = record(false, messages, options);
        try {
          return await client.create(messages, options);
        } catch (error) {
          call["error"] = errorMessage(error);
          throw error;
        }
      },
      async *createStream(messages, options) {
        const call = record(true, messages, options);
        try {
          return yield* client.createStream(messages, options);
        } catch (error) {
          call["error"] = errorMessage(error);
          throw error;
        }
      },
    };
    return new Proxy(client, {
      get(target, key) {
        if (key === "create" || key === "createStream") return watched[key];
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
  }
}

/** A component whose replay clients know their numbers: the order in which they stand in the document. */
export function numberClients(component: JsonObject): JsonObject {
  const copy = structuredClone(component);
  let count = 0;
  eachObject(copy, (node) => {
    const { provider, config } = node;
    if (typeof provider !== "string" || !REPLAY_CLIENT.test(provider) || !isJsonObject(config))
      return;
    config[NUMBER] = count++;
  });
  return copy;
}

interface NumberedConfig {
  number: number;
  config: unknown;
}

function numbered(schema: z.ZodType): z.ZodType {
  return z.record(z.string(), z.unknown()).transform((raw, context): NumberedConfig => {
    const { [NUMBER]: number, ...config } = raw;
    const result = schema.safeParse(config);
    if (!result.success) {
      context.issues.push(...(result.error.issues as never[]));
      return z.NEVER;
    }
    return { number: typeof number === "number" ? number : 0, config: result.data };
  });
}

function shownOutput(output: JsonOutput | null | undefined): Json {
  if (output === null || output === undefined || output === false) return null;
  return output === true ? true : { schema: structuredClone(output.schema) };
}
