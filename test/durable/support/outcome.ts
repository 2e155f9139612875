import { expect } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import type { Message } from "../../../src/core/messages/message.ts";
import { Effects } from "./effects.ts";
import type { Kind } from "./kinds.ts";
import { TestTeam, value } from "./team.ts";

/** What became of a team. Ids and times are left out, and in what order those spoke who do so side by side. */
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

/** Lets a run come to its end that nothing gets in the way of. */
export async function undisturbed(
  kind: Kind,
  tasks: readonly string[] = ["go"],
): Promise<{ outcome: Outcome; places: string[]; subject: Subject }> {
  const subject = await subjectOf(kind);
  for (const task of tasks) {
    const { id } = await subject.team.start(task);
    expect(await subject.team.finished(id)).toMatchObject({ status: "completed" });
  }
  const { effects, team } = subject;
  return { outcome: await outcomeOf(team), places: [...effects.begun], subject };
}

export async function outcomeOf(team: TestTeam): Promise<Outcome> {
  const { messages } = value(await team.gateway.messages({ limit: 200 }));
  const { usage } = value(await team.gateway.team());
  const said = saidIn(messages.map(({ seq: _seq, ...message }) => message));
  return { said, state: await stateOf(team), usage: timeless(usage) };
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

/** What always holds once a team is idle: no effect came to its end twice, one terminal event a run, nothing is left. */
export async function expectTidy({ team, effects }: Subject): Promise<void> {
  expect(effects.repeated).toEqual([]);
  expect(await team.alarm()).toBeNull();
  expect(await team.sql("select key from step")).toEqual([]);
  expect(await team.sql("select id from question where answer is null")).toEqual([]);
  const terminals = await team.sql(
    "select run from event where kind in ('result', 'failed', 'cancelled') order by run",
  );
  const runs = await team.sql("select seq as run from run order by seq");
  expect(terminals).toEqual(runs);
  await expectThreadInLog(team);
}

/** What the team remembers having been said was said, once. */
async function expectThreadInLog(team: TestTeam): Promise<void> {
  const { messages } = value(await team.gateway.messages({ limit: 200 }));
  const logged = new Set(messages.map(({ id }) => id));
  const state = value(await team.gateway.saveState());
  const { agent_states = {} } = state as {
    agent_states?: { [name: string]: { message_thread?: { id: string }[] } };
  };
  const ids = Object.values(agent_states).flatMap(({ message_thread = [] }) =>
    message_thread.map(({ id }) => id),
  );
  expect(ids.filter((id) => !logged.has(id))).toEqual([]);
}

const CHANCE = new Set(["id", "created_at", "full_message_id", "request_id", "started"]);

function timeless(timed: unknown): Json {
  return JSON.parse(
    JSON.stringify(timed, (key, inner: unknown) => (CHANCE.has(key) ? null : inner)),
  ) as Json;
}
