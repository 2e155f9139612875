import type { Message } from "troupe/client";

/** A conversation as far as it is loaded, from its end. */
export interface Loaded {
  messages: readonly Message[];
  /** True if there are messages before these. */
  hasEarlier: boolean;
}

/** Two conversations: their common messages, and the different ones of each. */
export interface Diverged {
  /** The last common messages, oldest first. There may be earlier ones. */
  common: readonly Message[];
  /** True if there are earlier common messages. */
  hasEarlier: boolean;
  a: readonly Message[];
  b: readonly Message[];
}

/**
 * Parts two conversations at their last common message. A fork keeps the ids of the messages that it copies. Undefined until so
 * much is loaded that the message is found.
 */
export function diverged(a: Loaded, b: Loaded): Diverged | undefined {
  const places = new Map(b.messages.map(({ id }, index) => [id, index]));
  const inA = a.messages.findLastIndex(({ id }) => places.has(id));
  const inB = places.get(a.messages[inA]?.id ?? "");
  if (inB === undefined) {
    if (a.hasEarlier || b.hasEarlier) return undefined;
    return { common: [], hasEarlier: false, a: a.messages, b: b.messages };
  }
  return {
    common: a.messages.slice(0, inA + 1),
    hasEarlier: a.hasEarlier,
    a: a.messages.slice(inA + 1),
    b: b.messages.slice(inB + 1),
  };
}
