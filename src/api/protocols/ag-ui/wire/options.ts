import * as z from "zod";
import { tokenUsageSchema } from "../../../../contract/usage/usage-schemas.ts";
import type { StreamFormat } from "../../../../contract/gateways/team-gateway.ts";

/** The name of the streams' format. */
export const AG_UI = "ag-ui";

/** The state of the run before a stream that continues it. */
const continuedSchema = z.object({
  /** The questions that this request answers. */
  answering: z.array(z.string()),
  /** Calls whose results the client has, by their ids here. */
  clientCalls: z.array(z.string()),
  /** Calls without results: their ids here, by those that the models gave. */
  calls: z.record(z.string(), z.string()),
  /** Agents that have asked a human. */
  humans: z.array(z.string()),
  /** Tokens that earlier requests have reported. */
  spent: z.record(z.string(), tokenUsageSchema),
});
export type Continued = z.output<typeof continuedSchema>;

export const agUiOptionsSchema = z.object({
  threadId: z.string(),
  runId: z.string(),
  /** The run that the client says this one continues. */
  parentRunId: z.string().exactOptional(),
  /** True if the client is older than AG-UI 1.0: it refuses outcomes that it does not know. */
  old: z.boolean(),
  /**
   * The part of the client's `state` that the stream may write: all, `troupe` alone beside the application's keys, or
   * nothing.
   */
  state: z.enum(["whole", "part", "none"]),
  /** True if the frames of Troupe's own stream are sent, too. */
  raw: z.boolean(),
  /** True if clients get the reasoning of models. Those before 0.0.45 do not know it. */
  reasoning: z.boolean().default(true),
  /** False if questions to humans are texts, rather than interrupts, which clients before 0.0.54 do not know. */
  interrupts: z.boolean().default(true),
  /**
   * The inner teams that agents are in, outermost first, by agent; agents outside of them are left out. Null if clients get
   * no subagents.
   */
  subagents: z.record(z.string(), z.array(z.string())).nullable().default(null),
  /** True if clients get the steps under way as an activity. */
  activity: z.boolean().default(false),
  /** Parts of messages that no model here can use, by their paths in the request. */
  dropped: z.array(z.string()),
  /** The messages that the client has as the stream begins; null where they are too many to be kept. */
  thread: z.array(z.unknown()).nullable(),
  /** Set if the request continues a run: the beginning of the stream was written already. */
  continued: continuedSchema.exactOptional(),
});
export type AgUiOptions = z.output<typeof agUiOptionsSchema>;

/** Characters of the messages that are kept as long as a stream is open. */
const MOST_KEPT = 1_000_000;

/** The messages of a client, if they are kept. */
export function keptThread(messages: unknown[]): AgUiOptions["thread"] {
  return JSON.stringify(messages).length <= MOST_KEPT ? messages : null;
}

export function formatOf(options: AgUiOptions): StreamFormat {
  return { name: AG_UI, options: JSON.parse(JSON.stringify(options)) as StreamFormat["options"] };
}
