import type { Message, TurnInfo } from "troupe/client";
import { type Card, messagesIn } from "./entries.ts";

/** The cost of a card in models, tokens and time. Undefined or null if unknown. */
export interface CardNumbers {
  models: readonly string[];
  tokens: { prompt_tokens: number; completion_tokens: number } | undefined;
  cost: number | null;
  ms: number | null;
  thoughtMs: number | null;
}

/** The agents of chat messages, by the messages' ids: numbers of a turn belong to one card only. */
export type Speakers = ReadonlyMap<string, string>;

export function speakersOf(messages: readonly Message[]): Speakers {
  const found = new Map<string, string>();
  for (const { id, type, source } of messages) if (!type.endsWith("Event")) found.set(id, source);
  return found;
}

/**
 * Model, tokens, cost and time of a card: those of its agent in its turn. An agent that speaks several times in a turn has
 * only the tokens of each message.
 */
export function numbersOf(
  card: Card,
  turns: ReadonlyMap<string, TurnInfo>,
  speakers: Speakers,
): CardNumbers {
  const messages = messagesIn(card);
  const turn = messages.map(({ id }) => turns.get(id)).find((one) => one !== undefined);
  const agent =
    turn?.agents.find((one) => one.agent === card.source) ??
    turn?.agents.find((one) => one.agent === null && isManager(card.source));
  const others = turn?.message_ids.filter(
    (id) => id !== card.answer?.id && speakers.get(id) === card.source,
  );
  if (agent === undefined || (others?.length ?? 0) > 0) {
    const used = messages.flatMap(({ models_usage }) => models_usage ?? []);
    return { models: [], tokens: sum(used), cost: null, ms: null, thoughtMs: null };
  }
  const { models, cost, duration_ms: ms, thought_ms: thoughtMs } = agent;
  return { models: Object.keys(models), tokens: sum(Object.values(models)), cost, ms, thoughtMs };
}

/** The only manager that speaks itself. */
function isManager(source: string): boolean {
  return source === "MagenticOneOrchestrator";
}

function sum(
  used: readonly { prompt_tokens: number; completion_tokens: number }[],
): CardNumbers["tokens"] {
  if (used.length === 0) return undefined;
  return {
    prompt_tokens: used.reduce((total, one) => total + one.prompt_tokens, 0),
    completion_tokens: used.reduce((total, one) => total + one.completion_tokens, 0),
  };
}
