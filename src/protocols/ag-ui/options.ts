import type { StreamFormat } from "../../contract/stream/stream-format.ts";
import type { TokensByModel } from "../../contract/usage/model-usage.ts";

/** The name of the streams' format. */
export const AG_UI = "ag-ui";

/** What a client's request says about its stream. */
export interface AgUiOptions {
  threadId: string;
  runId: string;
  /** Whether the client is older than AG-UI 1.0: it refuses outcomes that it does not know. */
  old: boolean;
  /** What the stream may write of the client's `state`: all, `troupe` alone beside what the application has, or nothing. */
  state: "whole" | "part" | "none";
  /** Whether the frames of Troupe's own stream are sent, too. */
  raw: boolean;
  /** Parts of messages that no model here can use, by their paths in the request. */
  dropped: readonly string[];
  /** The messages that the client has as the stream begins; null where they are too many to be kept. */
  thread: readonly unknown[] | null;
  /** Where the request goes on with a run: the beginning of the stream was written already. */
  continued?: Continued;
}

/** What came before a stream that goes on with a run. */
export interface Continued {
  /** The questions that this request answers. */
  answering: readonly string[];
  /** Calls whose results the client has, by their ids here. */
  clientCalls: readonly string[];
  /** Calls without results: their ids here, by those that the models gave. */
  calls: Readonly<Record<string, string>>;
  /** Agents that have asked a human. */
  humans: readonly string[];
  /** Tokens that earlier requests have told. */
  spent: TokensByModel;
}

/** Characters of the messages that are kept as long as a stream is open. */
const MOST_KEPT = 1_000_000;

/** The messages of a client, if they are kept. */
export function keptThread(messages: readonly unknown[]): AgUiOptions["thread"] {
  return JSON.stringify(messages).length <= MOST_KEPT ? messages : null;
}

export function formatOf(options: AgUiOptions): StreamFormat {
  return { name: AG_UI, options: JSON.parse(JSON.stringify(options)) as StreamFormat["options"] };
}
