import type { StreamFrame } from "../../contract/stream-frame.ts";
import type { EventKind } from "../storage/event-log.ts";

/** Asks clients to wait a while before they reconnect: a human takes longer. */
export const RETRY_FRAME = "retry: 15000\n\n";
export const PING_FRAME = ": ping\n\n";
export const CAUGHT_UP_FRAME = "event: caught_up\ndata: {}\n\n";

/** Names of frames about the service; items of the run are unnamed. */
const EVENT_NAMES: Record<EventKind, string | undefined> = {
  message: undefined,
  quiet: undefined,
  again: undefined,
  result: undefined,
  retract: "retract",
  failed: "failed",
  cancelled: "run",
};

/** The frame of a recorded event. `body` is JSON text, which has no line breaks. */
export function eventFrame({
  seq,
  kind,
  body,
}: {
  seq: number;
  kind: EventKind;
  body: string;
}): string {
  const name = EVENT_NAMES[kind];
  return name === undefined
    ? `id: ${seq}\ndata: ${body}\n\n`
    : `event: ${name}\nid: ${seq}\ndata: ${body}\n\n`;
}

/** An unnamed frame without an id: a piece of text, which is not recorded. */
export function liveFrame(item: unknown): string {
  return `data: ${JSON.stringify(item)}\n\n`;
}

export function namedFrame<Name extends "run" | "snapshot" | "discard">(
  name: Name,
  data: Extract<StreamFrame, { event: Name }>["data"],
): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Whether the stream of a run ends with this event. */
export function isTerminal(kind: EventKind): boolean {
  return kind === "result" || kind === "failed" || kind === "cancelled";
}
