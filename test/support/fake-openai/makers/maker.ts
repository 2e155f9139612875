import type { Completion } from "../completion.ts";

/** An assistant's message of a request with what its maker has beside OpenAI's fields. */
export interface GivenTurn {
  index: number;
  content: unknown;
  /** By the field's name. */
  fields: { readonly [name: string]: unknown };
  calls: readonly { id: string; extra_content?: unknown }[];
}

/** A request to a maker's server. */
export interface GivenRequest {
  key: string;
  model: string;
  /** Fields of the body that OpenAI does not have. */
  settings: { readonly [name: string]: unknown };
  turns: readonly GivenTurn[];
  messages: readonly { role: unknown; content: unknown; hasCalls: boolean }[];
  /** The index of the last message of a user. */
  lastUser: number;
}

/** Where a maker's answers have what OpenAI's have not. */
export interface Voice {
  /** Fields of a message, or of a part of one, for a piece of reasoning. @param last whether it is the last piece */
  reasoning?(text: string, last: boolean): object;
  /** Fields of a call. */
  call?(index: number): object;
  /** Fields of a message, or of its last part, that has no calls. */
  text?(): object;
  /** The content of a whole message in place of its text. */
  content?(text: string, reasoning: string): unknown;
}

/** A maker's server with chat completions: what it has beside OpenAI's, and what it refuses. */
export interface FakeMaker {
  /** Fields of an assistant's message, and of the body. */
  messageFields: readonly string[];
  bodyFields: readonly string[];
  /** Whether calls have `extra_content`. */
  callExtras?: true;
  /** Whether streams have their usage unasked, and `stream_options` and the names of users are refused. */
  isStrict?: true;
  problem(request: GivenRequest): string | undefined;
  /** Whether the model thinks in its answer to the request, though the rule has no reasoning. */
  thinks?(request: GivenRequest): boolean;
  voice(request: GivenRequest, completion: Completion): Voice;
}

/** Whether a message has neither calls nor a text with a visible character, nor anything else. */
export function isEmpty({ content, hasCalls }: GivenRequest["messages"][number]): boolean {
  if (hasCalls) return false;
  if (Array.isArray(content))
    return (content as { text?: unknown }[]).every(({ text }) => text === "");
  return content === null || content === undefined || content === "";
}
