import type { JsonObject } from "../json.ts";
import type { StructuredMessage } from "../messages/chat-messages.ts";
import type { Message } from "../messages/message.ts";
import { toText } from "../messages/views.ts";

/**
 * The result of a run (AutoGen `TaskResult`): everything it yielded except pieces of streamed text, and the reason why it
 * stopped, which is null for a single agent.
 */
export interface TaskResult {
  type: "TaskResult";
  messages: Message[];
  stop_reason: string | null;
}

/** Reads the structured answers of an agent. */
export interface StructuredOutput<Output = unknown> {
  /** The content of an answer. @throws ValueError when the message is not an answer of this type */
  read(message: Message | undefined): Output;
}

/** The content of the structured answers of an agent; unknown for an agent without them and for a team. */
export type OutputOf<Subject> = Subject extends {
  readonly structuredOutput?: StructuredOutput<infer Output> | undefined;
}
  ? Output
  : unknown;

/** The messages of a run whose structured messages have this content. */
export type MessageWith<Output> = unknown extends Output
  ? Message
  : Exclude<Message, StructuredMessage> | StructuredMessage<Output & JsonObject>;

/** The result of `run`. As JSON it is a {@link TaskResult}: `text` and `output` are read from the messages. */
export class RunResult<Output = unknown> {
  readonly type = "TaskResult";
  readonly messages: MessageWith<Output>[];
  readonly stop_reason: string | null;
  readonly #notes: readonly string[];
  readonly #structured: StructuredOutput<Output> | undefined;

  constructor(
    { messages, stop_reason }: Pick<TaskResult, "messages" | "stop_reason">,
    notes: readonly string[] = [],
    structured?: StructuredOutput<Output>,
  ) {
    this.messages = messages as MessageWith<Output>[];
    this.stop_reason = stop_reason;
    this.#notes = notes;
    this.#structured = structured;
  }

  /** The omissions of the run, and why: for example a memory that could not compare meanings. */
  get notes(): readonly string[] {
    return this.#notes;
  }

  /** The text of the last message, empty without one. */
  get text(): string {
    const last = this.#last;
    return last === undefined ? "" : toText(last);
  }

  /**
   * The content of the last message of an agent with `outputContentType`, checked against it. For other agents and for
   * teams: the content of the last message if it is structured, and otherwise undefined.
   *
   * @throws ValueError when an agent with `outputContentType` ended with another message, a handoff for example
   */
  get output(): Output {
    const last = this.#last;
    if (this.#structured !== undefined) return this.#structured.read(last);
    const isStructured = last?.type.startsWith("StructuredMessage[") === true;
    return (isStructured ? (last as StructuredMessage).content : undefined) as Output;
  }

  get #last(): Message | undefined {
    return this.messages.at(-1);
  }
}
