import type { Message } from "./message.ts";

/** The names under which humans speak in these messages: `user`, and agents that asked for input. */
export function humanSources(messages: readonly Message[]): ReadonlySet<string> {
  const asked = messages.filter(({ type }) => type === "UserInputRequestedEvent");
  return new Set(["user", ...asked.map(({ source }) => source)]);
}
