import * as z from "zod";
import { componentModelSchema } from "../../../core/component/component-model.ts";
import {
  type AnyComponentDefinition,
  type Component,
  componentDefinition,
  dumpComponent,
  withoutNulls,
} from "../../../core/component/component.ts";
import { ValueError } from "../../../core/errors.ts";
import type { JsonObject } from "../../../core/json.ts";
import { callModel } from "../../../core/turn/call-model.ts";
import type {
  ChatCompletionClient,
  FinishReason,
} from "../../../core/models/chat-completion-client.ts";
import { imageMediaType } from "../../../core/models/images.ts";
import type { ImageContent, LLMMessage } from "../../../core/models/llm-messages.ts";
import { askHuman } from "../../../core/turn/human-approval.ts";
import type { TurnContext } from "../../../core/turn/turn-context.ts";
import { McpError } from "../answers/mcp-error.ts";
import {
  aModelClient,
  aNumber,
  checkArgument,
  checkOptions,
  type OptionsSchema,
} from "../../../core/options/options.ts";

const contentSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("image"), data: z.string(), mimeType: z.string() }),
]);

const paramsSchema = z.object({
  systemPrompt: z.string().nullish(),
  messages: z.array(
    z.object({
      role: z.enum(["user", "assistant"]),
      content: z.union([
        contentSchema,
        z.array(contentSchema),
        // Some servers write the text alone.
        z.string().transform((text) => ({ type: "text" as const, text })),
      ]),
    }),
  ),
  maxTokens: z.number().int().nullish(),
  temperature: z.number().nullish(),
  stopSequences: z.array(z.string()).nullish(),
});
type SamplingParams = z.output<typeof paramsSchema>;

const samplerConfigSchema = z.object({
  client_config: componentModelSchema,
  /** `none` answers the server's requests without asking a human. Default `human`. */
  approval: z.enum(["human", "none"]).nullish(),
  approval_timeout_seconds: z.number().positive().nullish(),
});

export interface SamplerOptions {
  /** `human` if a human approves each request of a server. Default `human`. */
  approval?: "human" | "none" | undefined;
  /** Seconds after which an unanswered approval counts as refused. Default: no limit. */
  approvalTimeoutSeconds?: number | null | undefined;
}

const optionsSchema: OptionsSchema<SamplerOptions> = z.object({
  approval: z.enum(["human", "none"]).optional(),
  approvalTimeoutSeconds: aNumber.nullish(),
});

/** Answers a server's requests for text from a model (AutoGen `Sampler`). */
export interface Sampler extends Component {
  /**
   * @param params the parameters of the request `sampling/createMessage`
   * @param source the name of the agent that made the call
   * @param ctx a scope of its own
   */
  sample(params: JsonObject, source: string, ctx: TurnContext): Promise<JsonObject>;
}

/**
 * Answers with a model client (AutoGen `ChatCompletionClientSampler`). A human approves each request first, because its text is the
 * server's and its cost the team's.
 */
export class ChatCompletionClientSampler implements Sampler {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_ext.tools.mcp.ChatCompletionClientSampler",
    componentType: "mcp_sampler",
    role: "mcp_sampler",
    version: 1,
    configSchema: samplerConfigSchema,
    fromConfig: (config, loader) =>
      new ChatCompletionClientSampler(
        loader.load<ChatCompletionClient>(config.client_config, "model", "client_config"),
        {
          approval: config.approval ?? "human",
          approvalTimeoutSeconds: config.approval_timeout_seconds ?? null,
        },
      ),
  });

  readonly definition = ChatCompletionClientSampler.component;
  readonly #client: ChatCompletionClient;
  readonly #approval: "human" | "none";
  readonly #timeoutSeconds: number | null;

  constructor(modelClient: ChatCompletionClient, options: SamplerOptions = {}) {
    const owner = "ChatCompletionClientSampler";
    const { approval = "human", approvalTimeoutSeconds = null } = checkOptions(
      optionsSchema,
      options,
      owner,
    );
    this.#client = checkArgument(aModelClient, modelClient, owner, "modelClient");
    this.#approval = approval;
    this.#timeoutSeconds = approvalTimeoutSeconds;
  }

  async sample(given: JsonObject, source: string, ctx: TurnContext): Promise<JsonObject> {
    const params = paramsSchema.parse(given);
    const messages = this.#messages(params);
    if (this.#approval === "human") await this.#approve(params, source, ctx);
    const { content, finish_reason } = await callModel(ctx, "model", this.#client, messages, {
      extraCreateArgs: extraArgs(params),
    });
    return {
      role: "assistant",
      content: {
        type: "text",
        text: typeof content === "string" ? content : JSON.stringify(content),
      },
      model: this.#client.modelInfo.family,
      stopReason: stopReason(finish_reason),
    };
  }

  toConfig(): JsonObject {
    return withoutNulls({
      client_config: dumpComponent(this.#client),
      approval: this.#approval === "human" ? null : this.#approval,
      approval_timeout_seconds: this.#timeoutSeconds,
    });
  }

  /** @throws McpError when the request is refused */
  async #approve(params: SamplingParams, source: string, ctx: TurnContext): Promise<void> {
    const { approved, reason } = await askHuman(
      { timeoutSeconds: this.#timeoutSeconds },
      {
        source,
        prompt: `The server of a tool that "${source}" calls asks for an answer of a model.`,
        code: promptText(params),
      },
      ctx,
    );
    if (approved) return;
    throw new McpError(
      "mcp_refused",
      `The server's request for an answer of a model was not approved.${reason && ` Reason: ${reason}`}`,
    );
  }

  #messages({ systemPrompt, messages }: SamplingParams): LLMMessage[] {
    const system: LLMMessage[] =
      systemPrompt == null ? [] : [{ type: "SystemMessage", content: systemPrompt }];
    return [...system, ...messages.map((message) => this.#message(message))];
  }

  #message({ role, content }: SamplingParams["messages"][number]): LLMMessage {
    const parts = [content].flat().map((part): string | ImageContent => {
      if (part.type === "text") return part.text;
      if (!this.#client.modelInfo.vision) {
        throw new ValueError("the server sent an image, and the model does not read images");
      }
      if (imageMediaType(part.data) === undefined) {
        throw new ValueError(`the server sent an image of the type ${part.mimeType}`);
      }
      return { data: part.data };
    });
    if (role === "user") return { type: "UserMessage", source: "user", content: parts };
    const text = parts.filter((part) => typeof part === "string").join("\n");
    return { type: "AssistantMessage", source: "assistant", content: text, thought: null };
  }
}

function extraArgs({ maxTokens, temperature, stopSequences }: SamplingParams): JsonObject {
  return withoutNulls({ max_tokens: maxTokens, temperature, stop: stopSequences });
}

function promptText({ systemPrompt, messages }: SamplingParams): string {
  const lines = messages.map(({ role, content }) => {
    const parts = [content]
      .flat()
      .map((part) => (part.type === "text" ? part.text : `[Image: ${part.mimeType}]`));
    return `${role}: ${parts.join("\n")}`;
  });
  return [...(systemPrompt == null ? [] : [`system: ${systemPrompt}`]), ...lines].join("\n\n");
}

function stopReason(reason: FinishReason): string {
  if (reason === "stop") return "endTurn";
  return reason === "length" ? "maxTokens" : reason;
}
