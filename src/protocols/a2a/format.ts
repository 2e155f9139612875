import type { StreamFormat } from "../../contract/stream/stream-format.ts";
import type { HistoryLength } from "./task.ts";
import type { RpcId } from "./wire.ts";

/** The name of the streams' format. */
export const FORMAT = "a2a";

/** What a client's request says about its stream. */
export interface A2AStreamOptions {
  id: RpcId;
  historyLength?: number;
  /** Ids of the questions that the request answers: the task is working again. */
  answering?: string[];
  /** The stream goes on while the task waits, up to its end. */
  toEnd?: boolean;
}

export function formatOf(
  id: RpcId,
  {
    historyLength,
    answering,
    toEnd,
  }: { historyLength?: HistoryLength; answering?: string[]; toEnd?: boolean } = {},
): StreamFormat {
  const options = {
    id,
    ...(historyLength !== undefined && { historyLength }),
    ...(answering !== undefined && { answering }),
    ...(toEnd !== undefined && { toEnd }),
  } satisfies A2AStreamOptions;
  return { name: FORMAT, options };
}
