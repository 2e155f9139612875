import { isTurnSignal } from "./signals.ts";

/** The agent that each error came from: errors pass through teams that know nothing of it. */
const agents = new WeakMap<object, string>();

/** Notes that this agent threw the error, unless one inside it did. Returns the error. */
export function noteFailingAgent(error: unknown, agent: string): unknown {
  const known = typeof error === "object" && error !== null;
  if (known && !isTurnSignal(error) && failingAgent(error) === null) agents.set(error, agent);
  return error;
}

/** The innermost agent that the error, or one that caused it, came from; null where none is known. */
export function failingAgent(error: unknown): string | null {
  let found: string | null = null;
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    found = agents.get(cause) ?? found;
  }
  return found;
}
