import { isTurnSignal } from "../steps/signals.ts";

/** The agent in which each error occurred: errors pass through teams that do not know it. */
const agents = new WeakMap<object, string>();

/** Records that an error came from this agent, unless it came from one inside. Returns the error. */
export function noteFailingAgent(error: unknown, agent: string): unknown {
  const known = typeof error === "object" && error !== null;
  if (known && !isTurnSignal(error) && failingAgent(error) === null) agents.set(error, agent);
  return error;
}

/** The innermost agent from which the error or one of its causes came; null if unknown. */
export function failingAgent(error: unknown): string | null {
  let found: string | null = null;
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    found = agents.get(cause) ?? found;
  }
  return found;
}
