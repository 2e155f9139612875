import * as z from "zod";
import {
  type AnyComponentDefinition,
  componentDefinition,
  withoutNulls,
} from "../component/component.ts";
import { errorMessage, MessageError, TroupeError, ValueError } from "../errors.ts";
import { jsonObjectSchema } from "../json-object.ts";
import { isJsonObject, type JsonObject } from "../json.ts";
import type { UserInputRequestedEvent } from "../messages/agent-events.ts";
import type { HandoffMessage, TextMessage } from "../messages/chat-messages.ts";
import { createMessage } from "../messages/create.ts";
import { PASSES_ON } from "../messages/handed-to.ts";
import { isChatMessage } from "../messages/views.ts";
import type { ChatMessage, Message } from "../messages/message.ts";
import { loadMessage } from "../messages/message-factory.ts";
import { rethrowSignal } from "../steps/signals.ts";
import type { TurnContext } from "../turn/turn-context.ts";
import { BaseChatAgent } from "./base-chat-agent.ts";
import type { AgentResponse } from "./chat-agent.ts";
import {
  aFunction,
  aNumber,
  aText,
  checkArgument,
  checkOptions,
  type OptionsSchema,
  valueThat,
} from "../options/options.ts";

const userProxyConfigSchema = z.object({
  name: z.string(),
  description: z.string().default("A human user"),
  /** AutoGen has this key and leaves it empty: functions cannot be written as JSON. */
  input_func: z.string().nullish(),
  prompt: z.string().min(1).nullish(),
  timeout_seconds: z.number().positive().nullish(),
  default_answer: z.union([z.string(), jsonObjectSchema]).nullish(),
});

/** A custom way to ask a human. Returns the answer; an exception fails the run. */
export type InputFunction = (prompt: string, signal: AbortSignal) => string | Promise<string>;

export interface UserProxyAgentOptions {
  /** An identifier, unique in the team. */
  name: string;
  description?: string | undefined;
  /** The prompt for the human. Default: "Enter your response: ". */
  prompt?: string | null | undefined;
  /** Replaces the host's way to ask. Not part of the component JSON. */
  inputFunc?: InputFunction | undefined;
  /** Seconds after which `defaultAnswer` counts as the answer. Without it the run waits indefinitely. */
  timeoutSeconds?: number | null | undefined;
  /** A text, or a whole chat message. */
  defaultAnswer?: string | JsonObject | null | undefined;
}

/** The values that `inputFunc` may return. Programs in JavaScript also return whole messages. */
const anInput = valueThat("a text", (value) => typeof value === "string" || isJsonObject(value));

const optionsSchema: OptionsSchema<UserProxyAgentOptions> = z.object({
  name: aText,
  description: aText.optional(),
  prompt: aText.nullish(),
  inputFunc: aFunction.optional(),
  timeoutSeconds: aNumber.nullish(),
  defaultAnswer: z.union([z.string(), jsonObjectSchema]).nullish(),
});

/**
 * A human as a member of a team (AutoGen `UserProxyAgent`): asks for input and answers with it. The answer to a
 * handoff is a handoff back to its sender.
 */
export class UserProxyAgent extends BaseChatAgent {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_agentchat.agents.UserProxyAgent",
    componentType: "agent",
    role: "agent",
    version: 1,
    configSchema: userProxyConfigSchema,
    fromConfig: (config) =>
      new UserProxyAgent({
        name: config.name,
        description: config.description,
        prompt: config.prompt ?? null,
        timeoutSeconds: config.timeout_seconds ?? null,
        defaultAnswer: config.default_answer ?? null,
      }),
  });

  readonly definition = UserProxyAgent.component;
  readonly producedMessageTypes = ["TextMessage", "HandoffMessage"];
  readonly #prompt: string | null;
  readonly #inputFunc: InputFunction | undefined;
  readonly #timeoutSeconds: number | null;
  readonly #defaultAnswer: string | JsonObject | null;

  /** @throws ValueError for a bad name, or a timeout without an answer to give then */
  constructor(options: UserProxyAgentOptions) {
    checkOptions(optionsSchema, options, "UserProxyAgent");
    super(options.name, options.description ?? "A human user");
    this.#prompt = options.prompt ?? null;
    this.#inputFunc = options.inputFunc;
    this.#timeoutSeconds = options.timeoutSeconds ?? null;
    this.#defaultAnswer = options.defaultAnswer ?? null;
    if (this.#timeoutSeconds !== null && this.#defaultAnswer === null) {
      const message = "is needed with timeout_seconds: it is the answer when the time is over";
      throw new ValueError(`default_answer ${message}`, {
        issues: [{ path: "default_answer", message }],
      });
    }
  }

  async *onMessagesStream(
    messages: readonly ChatMessage[],
    ctx: TurnContext,
  ): AsyncGenerator<Message, AgentResponse, void> {
    const handoff = this.#handoff(messages);
    const requestId = ctx.id();
    yield createMessage<UserInputRequestedEvent>(ctx, {
      type: "UserInputRequestedEvent",
      source: this.name,
      request_id: requestId,
      content: "",
    });
    const asked = this.#prompt ?? "Enter your response: ";
    const prompt = handoff ? `Handoff received from ${handoff.source}. ${asked}` : asked;
    const content = await this.#ask(requestId, prompt, ctx);
    return { chatMessage: this.#answer(content, handoff, ctx), innerMessages: null };
  }

  onReset(_ctx: TurnContext): Promise<void> {
    return Promise.resolve();
  }

  toConfig(): JsonObject {
    return withoutNulls({
      name: this.name,
      description: this.description,
      prompt: this.#prompt,
      timeout_seconds: this.#timeoutSeconds,
      default_answer: this.#defaultAnswer,
    });
  }

  /** @throws ValueError when the last message is a handoff to another target */
  #handoff(messages: readonly ChatMessage[]): HandoffMessage | undefined {
    const last = messages.at(-1);
    if (last?.type !== "HandoffMessage" || PASSES_ON in last.metadata) return undefined;
    if (last.target === this.name) return last;
    throw new ValueError(
      `"${this.name}" was asked after a handoff that "${last.source}" made to "${last.target}"`,
    );
  }

  async #ask(requestId: string, prompt: string, ctx: TurnContext): Promise<string | JsonObject> {
    const inputFunc = this.#inputFunc;
    try {
      if (inputFunc)
        return await ctx.step("input", async ({ signal }) =>
          checkArgument(anInput, await inputFunc(prompt, signal), this.name, "inputFunc's answer"),
        );
      const fallback = this.#defaultAnswer;
      const answer = await ctx.ask({
        id: requestId,
        kind: "input",
        source: this.name,
        prompt,
        timeoutSeconds: this.#timeoutSeconds,
        defaultAnswer: fallback === null ? null : { content: fallback },
      });
      if ("content" in answer) return answer.content;
    } catch (error) {
      rethrowSignal(error);
      throw new TroupeError("input_failed", `no input from the user: ${errorMessage(error)}`, {
        cause: error,
      });
    }
    throw new MessageError(`"${this.name}" asked for input and got an approval`);
  }

  #answer(
    content: string | JsonObject,
    handoff: HandoffMessage | undefined,
    ctx: TurnContext,
  ): ChatMessage {
    const source = this.name;
    if (typeof content !== "string") {
      const message = loadMessage({ ...content, source }, ctx, "content");
      if (isChatMessage(message)) return message;
      throw new MessageError(`the answer must be a chat message, not a ${message.type}`);
    }
    if (handoff === undefined) {
      return createMessage<TextMessage>(ctx, { type: "TextMessage", source, content });
    }
    return createMessage<HandoffMessage>(ctx, {
      type: "HandoffMessage",
      source,
      content,
      target: handoff.source,
      context: [],
    });
  }
}
