import type { ActivityFrame, RunInfo, TeamState } from "troupe/client";
import { thoughtIn } from "../text/thought.ts";
import {
  type Card,
  type Cards,
  emptyCard,
  type ConversationEntry,
  type ToolCall,
} from "./entries.ts";

type Step = ActivityFrame["steps"][number];

/** The present activity of an agent, or of the team's manager, for a line. */
export interface Doing {
  words: string;
  /** The arguments of a tool, or why an attempt failed. */
  detail: string;
  /** Since when, by the server's clock; null if it is not known. */
  since: string | null;
  /** When the next attempt is made, by the server's clock. */
  until: string | null;
}

interface Now extends Pick<TeamState, "texts" | "activity"> {
  run: Pick<RunInfo, "status" | "next_attempt_at" | "error"> | null;
  /** The name under which the team's manager speaks, if it does. */
  manager: string | undefined;
}

/** The conversation as it is now: a line for each agent at work, by the keys of their cards; "" for the team's manager. */
export interface Present {
  entries: ConversationEntry[];
  lines: ReadonlyMap<string, Doing>;
}

/** Adds the texts in progress and what is under way. @param said the entries of `cards`, with others between them */
export function withPresent(said: readonly ConversationEntry[], cards: Cards, now: Now): Present {
  const { texts, run, manager } = now;
  const steps = stepsBySource(now.activity?.steps ?? [], manager);
  const sources = new Set([...texts.map(({ source }) => source), ...steps.keys()]);
  const lines = new Map<string, Doing>();
  const entries = [...said];
  for (const source of sources) {
    if (source === "") continue;
    const open = cards.openOf(source);
    const card: Card = {
      ...(open ?? emptyCard(source, cards.nextKey(source))),
      text: texts.find((text) => text.source === source),
    };
    const index = open === undefined ? -1 : entries.lastIndexOf(open);
    if (index >= 0) entries[index] = card;
    else entries.push(card);
    if (run?.status === "running") lines.set(card.key, doingOf(steps.get(source) ?? [], card));
  }
  if (run?.status === "running") {
    const own = steps.get("");
    if (own !== undefined) lines.set("", doingOf(own));
    else if (lines.size === 0) lines.set("", idle(run));
  }
  return { entries, lines };
}

/** @param manager the name of the team's manager, if it has messages; its steps have none otherwise */
function stepsBySource(steps: readonly Step[], manager = ""): Map<string, Step[]> {
  const found = new Map<string, Step[]>();
  for (const step of steps) {
    const source = step.agent ?? manager;
    found.set(source, [...(found.get(source) ?? []), step]);
  }
  return found;
}

/** Nothing is under way: the run has just begun, is between two steps, or waits long for a dependency. */
function idle({ next_attempt_at: until }: NonNullable<Now["run"]>): Doing {
  return until === null
    ? { words: "Starting", detail: "", since: null, until }
    : { words: "A model or another service isn't responding", detail: "", since: null, until };
}

/** @param card undefined for the team's manager */
export function doingOf(steps: readonly Step[], card?: Card): Doing {
  const waiting = steps.filter(({ next_attempt_at }) => next_attempt_at !== null);
  const [first] = steps;
  if (first !== undefined && waiting.length === steps.length) return waitingFor(first);
  const active = steps.filter((step) => !waiting.includes(step));
  const since = active.map(({ started_at }) => started_at).toSorted()[0] ?? null;
  const tools = active.filter(({ kind }) => kind === "execute_tool");
  if (tools.length > 0) return { ...callsOf(tools, card), since, until: null };
  const attempt = Math.max(1, ...active.map((step) => step.attempt));
  const again = attempt > 1 ? `, attempt ${attempt}` : "";
  return { words: wordOf(active, card) + again, detail: "", since, until: null };
}

function wordOf(active: readonly Step[], card: Card | undefined): string {
  const isModel = active.some(({ kind }) => kind === "chat");
  if (card === undefined) return isModel ? "Choosing who speaks next" : "Working";
  if (card.text !== undefined)
    return thoughtIn(card.text.content).answer === "" ? "Thinking" : "Writing";
  return isModel ? "Thinking" : "Working";
}

function waitingFor({ error, attempt, next_attempt_at: until, name }: Step): Doing {
  const isLimit = error?.type.includes("rate_limit") === true;
  const what = isLimit ? "Rate limited" : `${name ?? "It"} did not answer`;
  return {
    words: `${what}: attempt ${attempt + 1}`,
    detail: error?.message ?? "",
    since: null,
    until,
  };
}

function callsOf(tools: readonly Step[], card: Card | undefined): Pick<Doing, "words" | "detail"> {
  const calls = (card?.work ?? []).flatMap((work): readonly ToolCall[] =>
    work.kind === "tools" ? work.calls : [],
  );
  const [first] = tools;
  const names = [...new Set(tools.map(({ name }) => name ?? "a tool"))];
  const visible = names.slice(0, 2).join(", ");
  const words = names.length > 2 ? `${visible} and ${names.length - 2} more` : visible;
  const call = tools.length === 1 && calls.find((one) => one.call.id === first?.call_id);
  return {
    words: `Running ${words}${tools.length > names.length ? ` (${tools.length} calls)` : ""}`,
    detail: call ? call.call.arguments : "",
  };
}
