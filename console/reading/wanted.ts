import type { Message } from "troupe/client";
import { useSearchParams } from "wouter";
import { type ConversationEntry, messagesIn } from "../conversation/entries.ts";

/** The place in a conversation that the page's address names: a turn, or a message by its `seq`. */
export interface WantedPlace {
  kind: "turn" | "message";
  n: number;
  /** The text that was searched for, in lower case; empty for none. */
  text: string;
}

export function useWantedPlace(): WantedPlace | undefined {
  const [search] = useSearchParams();
  for (const kind of ["message", "turn"] as const) {
    const value = search.get(kind);
    if (value === null || !/^\d{1,15}$/.test(value)) continue;
    return { kind, n: Number(value), text: (search.get("find") ?? "").toLowerCase() };
  }
  return undefined;
}

/** The index of the entry at a place, or -1. Messages that came by the stream have neither a `seq` nor a turn. */
export function placeIn(
  entries: readonly ConversationEntry[],
  { kind, n, text }: WantedPlace,
): number {
  const find = (is: (message: Message) => boolean): number =>
    entries.findIndex((entry) => messagesIn(entry).some(is));
  if (kind === "turn") return find((message) => numberOf(message, "turn") >= n);
  const exact = find((message) => numberOf(message, "seq") === n);
  if (exact >= 0) return exact;
  const next = find((message) => numberOf(message, "seq") > n);
  if (next >= 0 || text === "") return next;
  return find(
    (message) => !("seq" in message) && JSON.stringify(message).toLowerCase().includes(text),
  );
}

/** True if the place is among the loaded messages, or there is nothing else to load. */
export function isLoaded(
  messages: readonly Message[],
  hasEarlier: boolean,
  { kind, n }: WantedPlace,
): boolean {
  if (!hasEarlier) return true;
  const [first] = messages;
  return first !== undefined && numberOf(first, kind === "turn" ? "turn" : "seq") <= n;
}

function numberOf(message: Message, name: "seq" | "turn"): number {
  return name in message ? Number((message as { [name: string]: unknown })[name]) : -1;
}
