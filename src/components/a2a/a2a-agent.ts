import * as z from "zod";
import { BaseChatAgent } from "../../core/agents/base-chat-agent.ts";
import type { AgentResponse, ChatAgent } from "../../core/agents/chat-agent.ts";
import { type ComponentDefinition, withoutNulls } from "../../core/component/component.ts";
import { MessageError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { TextMessage } from "../../core/messages/chat-messages.ts";
import { asEvents, chunkEvents, createMessage } from "../../core/messages/create.ts";
import { isChatMessage, toText } from "../../core/messages/views.ts";
import type { ChatMessage, Message } from "../../core/messages/message.ts";
import { loadMessage } from "../../core/messages/message-factory.ts";
import { optionsOf, parseOptions } from "../../core/options/option-names.ts";
import type { CancelledWork, RemoteWork } from "../../core/steps/remote-work.ts";
import type { RetryPolicy } from "../../core/steps/retry.ts";
import { retryPolicyOf } from "../../core/steps/retry-config.ts";
import type { TurnContext } from "../../core/turn/turn-context.ts";
import type { StepAttempt } from "../../core/steps/step-attempt.ts";
import { parseState, stateSchemaOf } from "../../core/state/load-state.ts";
import { LONGEST_TIMER_MS } from "../../core/wait.ts";
import type { OutgoingDependencies } from "../../outgoing/dependencies.ts";
import { headerNotes } from "../../outgoing/headers.ts";
import { A2AError } from "./a2a-error.ts";
import type { RemoteInterface } from "./agent-card.ts";
import {
  type A2AAgentConfig,
  type A2AAgentOptions,
  a2aAgentConfigSchema,
  checkConfig,
} from "./config.ts";
import { RemoteAgent } from "./connection.ts";
import { followTask } from "./follow-task.ts";
import {
  afterReply,
  askedTask,
  cancelLeftTask,
  isLeftBy,
  type LeftTask,
  withTask,
} from "./left-task.ts";
import { isAtRest, type RefusedReply, type RemoteTask, type Reply } from "./remote-task.ts";
import { sendMessage } from "./send-message.ts";
import { isFile } from "../../core/models/attached-files.ts";
import { imageMediaType } from "../../core/models/images.ts";

/** The most questions that an agent may ask during one task. */
const MOST_QUESTIONS = 50;

/** A result of a step, with what is known of the remote work then; missing in records of earlier versions. */
type Recorded<T> = T & { remote?: LeftTask };

/** The id of a message; earlier versions recorded it alone. */
type RecordedRequest = string | Recorded<{ messageId: string }>;

const definition = {
  provider: "troupe.agents.A2AAgent",
  componentType: "agent",
  role: "agent",
  version: 1,
} as const;

const stateSchema = stateSchemaOf("A2AAgentState").extend({
  context_id: z.string().default(""),
});

/**
 * An agent of another system, which speaks A2A 1.0, as a member of a team. It gets the messages that are new since its last
 * answer, streams its text, and answers with the text of its artifacts. Its questions go to a human.
 *
 * Its task outlives this process: after a restart the agent continues to follow the task and does not send it again.
 *
 * @throws ValueError naming the option that cannot be used
 * @example
 * const lawyer = new A2AAgent({
 *   name: "lawyer",
 *   description: "Knows the law.",
 *   url: "https://law.example.com/agents/lawyer/",
 *   headers: { authorization: "Bearer env:LAW_TOKEN" },
 * });
 */
export class A2AAgent extends BaseChatAgent {
  /** @internal */
  static readonly component = a2aAgentDefinition;
  readonly definition: ChatAgent["definition"] = definition;
  readonly producedMessageTypes = ["TextMessage"];
  readonly #config: A2AAgentConfig;
  readonly #remote: RemoteAgent;
  readonly #retry: () => RetryPolicy | undefined;
  /** Id of the conversation with it; empty before the first answer. */
  #contextId = "";

  constructor(options: A2AAgentOptions, dependencies: OutgoingDependencies = {}) {
    const config = parseOptions(a2aAgentConfigSchema, options, "A2AAgent");
    super(config.name, config.description);
    checkConfig(config);
    this.#config = config;
    this.#remote = new RemoteAgent(config, dependencies);
    const retry = retryPolicyOf(config);
    this.#retry = () => retry;
  }

  async *onMessagesStream(
    messages: readonly ChatMessage[],
    ctx: TurnContext,
  ): AsyncGenerator<Message, AgentResponse, void> {
    const source = this.name;
    const id = ctx.id();
    const card = ({ signal }: StepAttempt) => this.#remote.card({ signal });
    const at = await ctx.step("card", card, { remote: true, retry: this.#retry });
    let parts = partsOf(messages);
    let task: Recorded<RemoteTask> | undefined;
    for (let round = 0; round <= MOST_QUESTIONS; round++) {
      const scope = ctx.scope(String(round));
      const reply = await this.#send(at, parts, task, scope);
      if ("message" in reply) return this.#answer(reply.message, id, ctx);
      task = { ...reply.task, ...(reply.remote && { remote: reply.remote }) };
      if (!isAtRest(task.state)) task = yield* this.#follow(at, task, id, scope);
      if (task.state !== "INPUT_REQUIRED") return this.#answer(resultOf(task), id, ctx, task.id);
      parts = await this.#ask(task, scope);
    }
    throw new A2AError("a2a_protocol", `"${source}" asked more than ${MOST_QUESTIONS} questions.`);
  }

  onReset(_ctx: TurnContext): Promise<void> {
    this.#contextId = "";
    return Promise.resolve();
  }

  override saveState(): JsonObject {
    return { type: "A2AAgentState", version: "1.0.0", context_id: this.#contextId };
  }

  override loadState(state: JsonObject): void {
    const { context_id } = parseState(stateSchema, state, `the state of "${this.name}"`);
    this.#contextId = context_id;
  }

  toConfig(): JsonObject {
    return withoutNulls(this.#config);
  }

  /** Cancels a task of this agent that a run has left. @returns undefined for the work of another agent */
  cancelWork(work: RemoteWork, signal: AbortSignal): Promise<CancelledWork> | undefined {
    return isLeftBy(this.#config, work) ? cancelLeftTask(this.#remote, work, signal) : undefined;
  }

  get #timeoutMs(): number {
    return Math.min(this.#config.timeout * 1000, LONGEST_TIMER_MS);
  }

  /** The remote agent's task, or its answer where it needs none. Does not wait for the task. */
  async #send(
    at: RemoteInterface,
    parts: JsonObject[],
    task: Recorded<RemoteTask> | undefined,
    ctx: TurnContext,
  ): Promise<Recorded<Reply>> {
    let again = false;
    const contextId = task?.contextId ?? this.#contextId;
    const begun = (message: string, attempt: StepAttempt): LeftTask =>
      task?.remote ?? askedTask(this.#config, attempt, { at, message, context: contextId });
    // A restart sends the same message, which the other side can recognize. A retry of a run that failed with the
    // remote agent's answer sends another one: it repeats everything since the last model call, and the start of a
    // request counts as one.
    const request = await ctx.step(
      "request",
      async (attempt): Promise<RecordedRequest> => {
        const messageId = crypto.randomUUID();
        return { messageId, remote: begun(messageId, attempt) };
      },
      {
        kind: "model",
        subject: { name: new URL(at.url).host, provider: "a2a" },
        onReplay: () => (again = true),
      },
    );
    const messageId = typeof request === "string" ? request : request.messageId;
    const message = {
      messageId,
      role: "ROLE_USER",
      parts,
      ...(contextId !== "" && { contextId }),
      ...(task !== undefined && { taskId: task.id }),
    };
    const sending = { agent: this.#remote, at, message, asked: task, timeoutMs: this.#timeoutMs };
    const sent = await ctx.step(
      "send",
      async (attempt): Promise<RefusedReply | Recorded<Reply>> => {
        const work = begun(messageId, attempt);
        const sendsAgain = again || attempt.attempt > 1;
        const reply = await sendMessage({ ...sending, work, again: sendsAgain }, attempt);
        return { ...reply, remote: afterReply(work, reply) };
      },
      { policy: this.#config.policy, remote: true, retry: this.#retry },
    );
    // Not thrown by the step: a retry would repeat that step alone, and send the same message.
    if ("refused" in sent) throw new A2AError("a2a_refused", sent.refused);
    return sent;
  }

  #follow(
    at: RemoteInterface,
    task: Recorded<RemoteTask>,
    messageId: string,
    ctx: TurnContext,
  ): AsyncGenerator<Message, Recorded<RemoteTask>, void> {
    const { id, contextId: context, remote } = task;
    const followed = { agent: this.#remote, at, id, timeoutMs: this.#timeoutMs };
    const begun = (attempt: StepAttempt): LeftTask =>
      remote ?? withTask(askedTask(this.#config, attempt, { at, message: id, context }), task);
    const texts = ctx.stream(
      "follow",
      async function* (attempt): AsyncGenerator<string, Recorded<RemoteTask>, void> {
        const work = begun(attempt);
        const rest = yield* followTask({ ...followed, work }, attempt);
        return { ...rest, remote: withTask(work, rest) };
      },
      { messageId, remote: true, retry: this.#retry },
    );
    return asEvents(texts, chunkEvents(ctx, this.name, messageId));
  }

  /** Asks the human the remote agent's question. @returns the answer */
  async #ask({ message }: RemoteTask, ctx: TurnContext): Promise<JsonObject[]> {
    const prompt = message === "" ? `"${this.name}" asks for input.` : message;
    const answer = await ctx.ask({ id: ctx.id(), kind: "input", source: this.name, prompt });
    if (!("content" in answer)) {
      throw new MessageError(`"${this.name}" asked for input and got an approval`);
    }
    const { content } = answer;
    if (typeof content === "string") return [{ text: content }];
    const said = loadMessage({ source: "user", ...content }, ctx, "content");
    if (isChatMessage(said)) return partsOf([said]);
    throw new MessageError(`the answer must be a chat message, not a ${said.type}`);
  }

  #answer(
    { text, contextId }: { text: string; contextId: string },
    id: string,
    ctx: TurnContext,
    taskId?: string,
  ): AgentResponse {
    if (contextId !== "") this.#contextId = contextId;
    const metadata = {
      ...(this.#contextId !== "" && { a2a_context_id: this.#contextId }),
      ...(taskId !== undefined && { a2a_task_id: taskId }),
    };
    const source = this.name;
    const fields = { type: "TextMessage", source, id, content: text, metadata } as const;
    return { chatMessage: createMessage<TextMessage>(ctx, fields), innerMessages: null };
  }
}

/** The answer of a task that has ended. @throws A2AError for one that was not completed */
function resultOf({ id, state, message, artifacts, contextId }: RemoteTask) {
  if (state === "COMPLETED") {
    const texts = artifacts.map(({ text }) => text).filter((text) => text !== "");
    return { text: texts.length > 0 ? texts.join("\n\n") : message, contextId };
  }
  const words = state.toLowerCase().replaceAll("_", " ");
  const why = message === "" ? "" : `: ${message}`;
  throw new A2AError("a2a_failed", `The remote agent's task ${id} is ${words}${why}`);
}

/** The component definition, with the fetch, settings and secrets of its host. */
function a2aAgentDefinition(
  dependencies: OutgoingDependencies,
): ComponentDefinition<A2AAgentConfig, A2AAgent> {
  return {
    ...definition,
    configSchema: a2aAgentConfigSchema,
    fromConfig: (config) => new A2AAgent(optionsOf(a2aAgentConfigSchema, config), dependencies),
    notes: ({ url, headers }) => headerNotes(headers, url, dependencies),
  };
}

/** Messages as the parts of one. If there are several, each text begins with its source. */
function partsOf(messages: readonly ChatMessage[]): JsonObject[] {
  if (messages.length === 0) return [{ text: "Continue." }];
  return messages.flatMap((message) => {
    const by = messages.length === 1 ? "" : `${message.source}: `;
    if (message.type === "MultiModalMessage") {
      return message.content.map((part, index): JsonObject => {
        if (typeof part === "string") return { text: index === 0 ? by + part : part };
        if (isFile(part))
          return { raw: part.data, mediaType: part.media_type, filename: part.name };
        return { raw: part.data, mediaType: imageMediaType(part.data) ?? "image/png" };
      });
    }
    return [{ text: by + toText(message) }];
  });
}
