import { runDurableObjectAlarm } from "cloudflare:test";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { value } from "../support/team.ts";
import { type Call, NOTHING, restarted, type Team } from "../support/team-model.ts";
import {
  answeredQuestion,
  openQuestion,
  type Outcome,
  outcomes,
  view,
} from "../support/team-outcomes.ts";
import { chatTexts, textsOf, WorkedTeam } from "../support/worked-team.ts";
import { PATIENCE } from "../../support/patience.ts";
import { casesOf } from "../../support/samples.ts";

type OfRun = Extract<Call, { run: string }>;
type Without<T, Key extends string> = T extends unknown ? Omit<T, Key> : never;

/** A call as it is generated: which run, request and turn it means is known when it is made. */
type Intent =
  | Exclude<Call, OfRun | { kind: "fork" } | { kind: "load" }>
  /** `late`: to the run before the latest, or to a request that was answered. */
  | (Without<OfRun, "run" | "request"> & { late: boolean })
  /** A number of turns before the last. */
  | { kind: "fork"; back: number }
  | { kind: "load" };

interface Known {
  runs: readonly (string | undefined)[];
  turn: number;
  open: string | undefined;
  answered: string | undefined;
  saved: unknown;
}

function toCall(intent: Intent, { runs, turn, open, answered, saved }: Known): Call {
  if (intent.kind === "load") return { kind: "load", saved };
  if (intent.kind === "fork") {
    return { kind: "fork", turn: intent.back === 0 ? null : Math.max(0, turn - intent.back) };
  }
  if (!("late" in intent)) return intent;
  const { late, ...call } = intent;
  const run = runs[late && call.kind !== "answer" ? 1 : 0] ?? "none";
  if (call.kind !== "answer") return { ...call, run };
  return { ...call, run, request: (late ? answered : open) ?? "none" };
}

/** All that the team may be, as far as clients can tell. */
interface Model {
  possible: readonly Team[];
}

function knownOf(team: Team): Known {
  const runs = team.runs.map(({ id }) => id).toReversed();
  const turn = team.history.length - 1;
  const [open, answered] = [openQuestion(team), answeredQuestion(team)];
  return { runs, turn, open, answered, saved: team.saved };
}

/** What the clients of the real one know. */
class Clients {
  readonly subject = new WorkedTeam();
  answered: string | undefined;

  async known(): Promise<Known> {
    const info = await this.subject.team.gateway.team();
    return {
      runs: await this.subject.runs(),
      turn: info.ok ? info.value.turn : 0,
      open: await this.subject.openRequest(),
      answered: this.answered,
      saved: this.subject.saved,
    };
  }
}

/** Calls that several clients make at the same time: what comes of them is what would come of them in some order. */
class Together implements fc.AsyncCommand<Model, Clients> {
  readonly #intents: readonly Intent[];
  readonly #delays: readonly number[];

  /** @param delays milliseconds before each is made */
  constructor(intents: readonly Intent[], delays: readonly number[] = []) {
    this.#intents = intents;
    this.#delays = delays;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, clients: Clients): Promise<void> {
    const expected = model.possible.flatMap((team) =>
      outcomes(
        team,
        this.#intents.map((intent) => toCall(intent, knownOf(team))),
      ),
    );
    const known = await clients.known();
    const calls = this.#intents.map((intent) => toCall(intent, known));
    const answers = await Promise.all(
      calls.map(async (call, index) => {
        const delay = this.#delays[index] ?? 0;
        if (delay > 0) await scheduler.wait(delay);
        return clients.subject.call(call);
      }),
    );
    for (const [index, call] of calls.entries()) {
      if (call.kind === "answer" && answers[index] === "ok") clients.answered = call.request;
    }
    model.possible = await settled(clients.subject, expected, answers);
  }

  toString(): string {
    return JSON.stringify([this.#intents, this.#delays]);
  }
}

/** The object is unloaded, and its alarm rings. */
class Restart implements fc.AsyncCommand<Model, Clients> {
  check(): boolean {
    return true;
  }

  async run(model: Model, { subject }: Clients): Promise<void> {
    await subject.team.evict();
    subject.gate.lost();
    await runDurableObjectAlarm(subject.team.stub);
    const expected = model.possible.flatMap((team) => outcomes(restarted(team), []));
    model.possible = await settled(subject, expected, []);
  }

  toString(): string {
    return "restart";
  }
}

/** Waits until the team looks like one of those that are expected, and returns these. */
async function settled(
  subject: WorkedTeam,
  expected: readonly Outcome[],
  answers: readonly string[],
): Promise<Team[]> {
  const teams = expected.filter((one) => String(one.answers) === String(answers));
  const until = Date.now() + PATIENCE.timeout;
  for (;;) {
    const actual = JSON.stringify(await subject.view());
    const fitting = teams.filter(({ team }) => JSON.stringify(view(team)) === actual);
    if (fitting.length > 0) {
      return [...new Map(fitting.map(({ team }) => [JSON.stringify(team), team])).values()];
    }
    if (Date.now() > until) {
      expect({ answers, view: actual }).toEqual(
        expected.map(({ answers: all, team }) => ({
          answers: all,
          view: JSON.stringify(view(team)),
        })),
      );
    }
    await scheduler.wait(2);
  }
}

const text = fc.constantFrom("one", "two", "three");
const intent: fc.Arbitrary<Intent> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("start" as const),
      task: fc.constantFrom("go", "on", null),
      interrupt: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("release" as const),
      text,
      fails: fc.constantFrom(false, false, true),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("answer" as const),
      text,
      late: fc.constantFrom(false, false, true),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("stop" as const),
      mode: fc.constantFrom("after_turn" as const, "now" as const),
      late: fc.constantFrom(false, false, true),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom("pause" as const, "resume" as const),
      late: fc.constantFrom(false, false, false, true),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("retry" as const),
      late: fc.constantFrom(false, false, true),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom("reset" as const, "replace" as const, "save" as const, "load" as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("fork" as const), back: fc.nat({ max: 3 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom("create" as const, "destroy" as const) }),
  },
);

const commands = fc.commands(
  [
    fc.tuple(intent).map((one) => new Together(one)),
    fc
      .tuple(
        fc.array(intent, { minLength: 2, maxLength: 3 }),
        fc.array(fc.nat({ max: 3 }), { minLength: 3 }),
      )
      .map(([several, delays]) => new Together(several, delays)),
    fc.constant(new Restart()),
  ],
  { maxCommands: 20, size: "max" },
);

test("two concurrent clients of a team get the results of consecutive ones", async () => {
  await fc.assert(
    fc.asyncProperty(commands, async (all) => {
      const clients = new Clients();
      const model: Model = { possible: [NOTHING] };
      await new Together([{ kind: "create" }]).run(model, clients);
      await fc.asyncModelRun(() => ({ model, real: clients }), all);
      await check(clients.subject);
    }),
    { numRuns: casesOf(20), seed: 1 },
  );
}, 120_000);

/** What must hold of a team in whatever it was stopped. */
async function check({ team }: WorkedTeam): Promise<void> {
  const info = await team.gateway.team();
  if (info.ok && info.value.active_run !== null) {
    value(await team.gateway.stopRun(info.value.active_run, "now"));
  }
  expect(await team.alarm()).toBeNull();
  if (!info.ok) return;
  const said = textsOf(value(await team.gateway.saveState()));
  const log = chatTexts(value(await team.gateway.messages({ limit: 200 })).messages);
  expect(log.slice(log.length - said.length)).toEqual(said);
  const ends = await team.sql<{ run: number; ends: number }>(
    "select run, count(*) as ends from event where kind in ('result', 'failed', 'cancelled') group by run",
  );
  const { runs } = value(await team.gateway.runs({ limit: 200 }));
  expect(ends).toEqual(runs.map((_, index) => ({ run: index + 1, ends: 1 })));
}
