import { runInDurableObject } from "cloudflare:test";
import { expect } from "vitest";
import type { Json, JsonObject, Message, TokenUsage } from "troupe";
import type { RunInfo } from "#contract/run.ts";
import { Effects } from "./effects.ts";
import type { Kind } from "./kinds.ts";
import { TestTeam, value } from "./team.ts";
import { storedRows } from "./stored-rows.ts";

/** The outcome of a team. Ids and times are left out, and in what order those spoke who do so side by side. */
export interface Outcome {
  said: { [source: string]: Json[] };
  state: Json;
  usage: Json;
}

/** A team of a kind and what it does outside. */
export interface Subject {
  effects: Effects;
  team: TestTeam;
}

export async function subjectOf(kind: Kind): Promise<Subject> {
  const effects = new Effects();
  return { effects, team: await TestTeam.create(kind.component(effects)) };
}

/** A run that came to its end with nothing in its way. */
interface Undisturbed {
  outcome: Outcome;
  places: readonly string[];
  /** Calls of models until then: forks of it call the same models. */
  modelCalls: number;
  /** Tests read it and fork it: it is the same for all of them. */
  subject: Subject;
}

const references = new Map<Kind, Undisturbed>();

/** Lets a run come to its end that nothing gets in the way of, once for each kind; people answer when all the others have done. */
export async function undisturbed(kind: Kind): Promise<Undisturbed> {
  const reference = references.get(kind) ?? (await runUndisturbed(kind));
  references.set(kind, reference);
  return reference;
}

async function runUndisturbed(kind: Kind): Promise<Undisturbed> {
  const subject = await subjectOf(kind);
  const { effects, team } = subject;
  let run = await team.rested((await team.start("go")).id);
  while (run.status === "waiting") {
    for (const { source } of run.requests) await answer(subject, run, `${source} knows`, source);
    run = await team.rested(run.id);
  }
  expect(run).toMatchObject({ status: "completed" });
  const { modelCalls, begun } = effects;
  return { outcome: await settled(subject), places: [...begun], modelCalls, subject };
}

/** A run that waits for a human. */
export async function waiting(kind: Kind): Promise<Subject & { run: RunInfo }> {
  const subject = await subjectOf(kind);
  const run = await subject.team.rested((await subject.team.start("go")).id);
  expect(run).toMatchObject({ status: "waiting" });
  return { ...subject, run };
}

/** Answers the open question. */
export async function answer(
  { team }: Subject,
  { id }: { id: string },
  content: string,
  source = "human",
): Promise<RunInfo> {
  const request = value(await team.gateway.requests(id)).find((one) => one.source === source);
  return value(await team.gateway.answer(id, request?.id ?? "", { content }));
}

/**
 * The outcome of a team. It is idle now, so no effect came to its end twice, every run has one terminal event, what is
 * remembered as said was said, and nothing is left to do.
 */
export async function settled({ team, effects }: Subject): Promise<Outcome> {
  expect(effects.repeated).toEqual([]);
  const { runs, ...rest } = await leftovers(team);
  expect(rest).toEqual({ alarm: null, steps: [], questions: [], terminals: runs });

  const { messages } = value(await team.gateway.messages({ limit: 200 }));
  const state = value(await team.gateway.saveState());
  const logged = new Set(messages.map(({ id }) => id));
  expect(threadOf(state).filter(({ id }) => !logged.has(id))).toEqual([]);
  const { usage } = value(await team.gateway.team());
  const said = saidIn(messages.map(({ seq: _seq, ...message }) => message));
  return { said, state: timeless(state), usage: timeless(reported(usage)) };
}

async function leftovers(team: TestTeam) {
  await team.delivered();
  return runInDurableObject(team.stub, async (_instance, { storage }) => {
    const column = (query: string) =>
      storedRows(storage, query).map((row) => Object.values(row)[0]);
    return {
      alarm: await storage.getAlarm(),
      steps: column("select key from step"),
      questions: column("select id from question where answer is null"),
      terminals: column(
        "select run from event where kind in ('result', 'failed', 'cancelled') order by run",
      ),
      runs: column("select seq from run order by seq"),
    };
  });
}

/** What a team remembers as said; nothing where an agent is alone. */
export function threadOf(state: JsonObject): Message[] {
  const { agent_states = {} } = state as {
    agent_states?: { [name: string]: { message_thread?: Message[] } };
  };
  return Object.values(agent_states).flatMap(({ message_thread = [] }) => message_thread);
}

/** Messages by who said them. */
export function saidIn(messages: readonly Message[]): Outcome["said"] {
  const said: Outcome["said"] = {};
  for (const message of messages) (said[message.source] ??= []).push(timeless(message));
  return said;
}

export async function stateOf(team: TestTeam): Promise<Json> {
  return timeless(value(await team.gateway.saveState()));
}

const CHANCE = new Set(["id", "created_at", "full_message_id", "request_id", "started"]);

function timeless(timed: unknown): Json {
  return JSON.parse(
    JSON.stringify(timed, (key, inner: unknown) => (CHANCE.has(key) ? null : inner)),
  ) as Json;
}

/** The tokens that models have reported: an attempt whose answer broke off adds an estimate. */
function reported({ prompt_tokens, completion_tokens, estimated_tokens = 0 }: TokenUsage): number {
  return prompt_tokens + completion_tokens - estimated_tokens;
}
