import type { StreamFormat } from "../../contract/stream/stream-format.ts";

/** The headers of a stream. */
export const HEADERS = { "x-vercel-ai-ui-message-stream": "v1" };

/** What a stream is about. Without any of it, it is the first message of its run. */
export interface ChatStreamOptions {
  /**
   * `new`: the whole message. `rest`: what follows in the message that the client has. `replay`: the last message of the run
   * from its beginning, which is after the last answer of a user.
   */
  part: "new" | "rest" | "replay";
  /** Whether the stream ends with what there is now. */
  now?: boolean;
  /** The id of a new message; default: the run's. */
  message?: string;
  /** Ids of the questions that are being answered. */
  answering?: string[];
  /** Ids of the other questions that were open then: the client has them already. */
  asked?: string[];
  /** Of a `rest`: the tool calls in the client's message that have no result. */
  calls?: string[];
  /** Of these, the ones whose output the client has made itself. */
  own?: string[];
  /** Of these, the ones that the client's user did not approve. */
  denied?: string[];
  /** Questions shown as tool calls that the client's user has decided about, with the decision. */
  decided?: Record<string, boolean>;
}

export function chatFormat(options: ChatStreamOptions): StreamFormat {
  return { name: "ai-sdk", options: { ...options } };
}
