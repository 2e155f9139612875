import { TroupeError } from "../errors.ts";
import type { SteeringOptions } from "./turn-context.ts";
import type { TextMessage } from "../messages/chat-messages.ts";
import type { Message } from "../messages/message.ts";

/** The code of a model call that a message into the run has cut. */
const STEERED = "steered";

/** A message into a run. @param to the place of its recipient in the team; undefined for everybody */
export function steeringMessage(content: string, to: string | undefined): TextMessage {
  return {
    id: crypto.randomUUID(),
    source: "user",
    models_usage: null,
    metadata: { steering: "true", ...(to !== undefined && { to }) },
    created_at: new Date().toISOString(),
    content,
    type: "TextMessage",
  };
}

/** True for a message that was sent into a run while it was active. */
export function isSteering(message: Message): message is TextMessage {
  return message.type === "TextMessage" && message.metadata["steering"] === "true";
}

/**
 * The recipient of a message that was sent into a run, as a path below the team that has it in its thread: `inner`,
 * `outer/inner`. Undefined for everybody.
 */
export function recipientOf(message: Message): string | undefined {
  return isSteering(message) ? message.metadata["to"] : undefined;
}

/** True if a member of a team gets a message with this recipient, or has a member that does. */
export function concernsMember(name: string, to: string | undefined): boolean {
  return to === undefined || to === name || to.startsWith(`${name}/`);
}

/**
 * The message as a member gets it, at this path below the team that has it in its thread: the recipient is a path below the
 * member then.
 */
export function passedTo(name: string, message: TextMessage): TextMessage {
  if (name === "" || recipientOf(message) === undefined) return message;
  const { to = "", ...metadata } = message.metadata;
  const rest = to.startsWith(`${name}/`) ? to.slice(name.length + 1) : "";
  return { ...message, metadata: rest === "" ? metadata : { ...metadata, to: rest } };
}

/** The model call was cut because a message has come into the run: the caller reads it and asks again. */
export function steeredError(): TroupeError {
  return new TroupeError(
    STEERED,
    "The call was cut: a message has come into the run, and the model is asked again",
  );
}

/** True for the error of {@link steeredError}, now or as it was recorded. */
export function wasSteered(error: unknown): boolean {
  return error instanceof TroupeError && error.code === STEERED;
}

/**
 * A reader of what is sent into a run: the team, a member of it, and so on. Lives as long as a turn; a turn that runs
 * again makes the same ones read the same.
 */
export class Reader {
  readonly parent: Reader | undefined;
  /** The names on the way to it, the outermost first: `outer/inner`; empty for the root. */
  readonly path: string;
  readonly #read = new Set<string>();
  readonly #members = new Map<string, Reader>();

  constructor(parent?: Reader, name = "") {
    this.parent = parent;
    this.path = parent === undefined || parent.path === "" ? name : `${parent.path}/${name}`;
  }

  member(name: string): Reader {
    const known = this.#members.get(name);
    if (known) return known;
    const member = new Reader(this, name);
    this.#members.set(name, member);
    return member;
  }

  /** Records that it has read a message in this turn. */
  takes(id: string): void {
    this.#read.add(id);
  }

  /** True if it has read the message, or will hear it from a team around it, which has. */
  has(id: string): boolean {
    return this.#read.has(id) || (this.parent?.has(id) ?? false);
  }

  /** The members that have read the message themselves. */
  membersWith(id: string): string[] {
    return [...this.#members].flatMap(([name, member]) => (member.#read.has(id) ? [name] : []));
  }

  /** True if a message with this recipient concerns it: it is the recipient, around it or in it. @param to as of the root */
  isConcerned(to: string | undefined): boolean {
    const { path } = this;
    if (to === undefined || path === "" || to === path) return true;
    return to.startsWith(`${path}/`) || path.startsWith(`${to}/`);
  }

  /** Those of the messages that concern it and that it has not read. */
  unread<M extends TextMessage>(messages: readonly M[]): M[] {
    return messages.filter((message) => {
      return !this.has(message.id) && this.isConcerned(recipientOf(message));
    });
  }
}

/** A model call that a message may cut. */
export interface CuttableCall {
  /** Path of its step. */
  readonly key: string;
  readonly reader: Reader;
  /** The message whose text streams. */
  readonly messageId: string | undefined;
  /** True once its client has reported a piece of the answer. */
  readonly hasArrived: boolean;
  cut(): void;
}

/** The part of a turn's host that knows the messages into the run. */
export interface SteeringHost {
  /** The messages that the reader has not read; it has read them then. @param key path of the reading in the turn */
  read(key: string, reader: Reader, options?: SteeringOptions): readonly TextMessage[];
  /** A call begins. It is cut at once if something is unread already. */
  begins(call: CuttableCall): void;
  ended(call: CuttableCall): void;
  /** A call under way was cut. @param tokens the count of its input */
  wasCut(key: string, model: string | undefined, tokens: number): void;
}
