import type { StreamFormat } from "../../contract/stream/stream-format.ts";
import type { A2ARequest } from "./request/services.ts";
import type { RpcId } from "./wire.ts";

/** The names of the formats of streams and push notifications: of each binding and version. */
export type A2AFormat = "a2a" | "a2a-rest" | "a2a-0.3";

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
  { id, format: name }: Pick<A2ARequest, "id" | "format">,
  { historyLength, answering, toEnd }: Omit<Partial<A2AStreamOptions>, "id"> = {},
): StreamFormat {
  const options = {
    id,
    ...(historyLength !== undefined && { historyLength }),
    ...(answering !== undefined && { answering }),
    ...(toEnd !== undefined && { toEnd }),
  } satisfies A2AStreamOptions;
  return { name, options };
}
