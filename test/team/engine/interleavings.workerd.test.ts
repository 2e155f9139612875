import { runDurableObjectAlarm } from "cloudflare:test";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ComponentModel } from "troupe";
import type { RunInfo } from "#contract/run.ts";
import { thought } from "../support/scripted-agent.ts";
import { agent, counter, type Frame, roundRobin, TestTeam, value } from "../support/team.ts";
import { casesOf } from "../../support/samples.ts";

/** Something that happens to a team while it runs. */
const ACTIONS = [
  "start",
  "queue",
  "queue",
  "drop",
  "interrupt",
  "pause",
  "resume",
  "answer",
  "answer",
  "stop",
  "cancel",
  "retry",
  "reset",
  "alarm",
  "evict",
  "look",
  "breathe",
] as const;
type Action = (typeof ACTIONS)[number];

/** Works, asks two humans side by side, and fails now and then. */
function team(effects: Map<string, number>): ComponentModel {
  const works = agent("works", async function* (self, ctx) {
    const replies = yield* ctx.all(
      ["left", "right"].map((key) => ({
        key,
        run: async function* (scope: typeof ctx) {
          yield thought(self.name, scope, `${key} begins`);
          await scope.step(
            "pay",
            ({ idempotencyKey }) => {
              effects.set(idempotencyKey, (effects.get(idempotencyKey) ?? 0) + 1);
              return Promise.resolve(null);
            },
            { policy: "never", unknownOutcome: () => null },
          );
          const answer = await scope.ask({
            id: scope.id(),
            kind: "input",
            source: key,
            prompt: "Well?",
          });
          yield thought(self.name, scope, `${key} has it`);
          return "content" in answer && typeof answer.content === "string" ? answer.content : "";
        },
      })),
    );
    if (replies.includes("fail")) throw new TypeError("asked to fail");
    return replies.join("+");
  });
  return roundRobin([counter("counts"), works], 4);
}

/** @param queued ids of the runs that were queued, in order; those that `drop` cancelled are left out */
async function act(
  subject: TestTeam,
  action: Action,
  content: string,
  queued: string[],
): Promise<void> {
  const { gateway } = subject;
  const { active_run } = value(await gateway.team());
  const latest = value(await gateway.runs({ limit: 1 })).runs[0]?.id ?? "";
  const run = active_run ?? latest;
  switch (action) {
    case "start":
    case "interrupt":
      await subject
        .start("go", { on_conflict: action === "start" ? "reject" : "interrupt" })
        .catch(expectBusy);
      return;
    case "queue": {
      const { id, status } = await subject.start("go", { on_conflict: "queue" });
      if (status === "queued") queued.push(id);
      return;
    }
    case "drop":
      if (latest === "" || (await subject.run(latest)).status !== "queued") return;
      value(await gateway.stopRun(latest, content === "yes" ? "now" : "after_turn"));
      queued.splice(queued.indexOf(latest), 1);
      return;
    case "pause":
      return void (await gateway.pauseRun(run));
    case "resume":
      return void (await gateway.resumeRun(run));
    case "answer": {
      const requests = await gateway.requests(run);
      const request = requests.ok ? requests.value[0] : undefined;
      if (request) value(await gateway.answer(run, request.id, { content }));
      return;
    }
    case "stop":
      return void (await gateway.stopRun(run, "after_turn"));
    case "cancel":
      return void (await gateway.stopRun(run, "now"));
    case "retry":
      return void (await gateway.retryRun(run));
    case "reset":
      return void (await gateway.reset());
    case "alarm":
      return void (await runDurableObjectAlarm(subject.stub));
    case "evict":
      return subject.evict();
    case "look":
      return void (await gateway.saveState());
    case "breathe":
      return new Promise((resolve) => {
        setTimeout(resolve, 0);
      });
  }
}

function expectBusy(error: unknown): void {
  expect(String(error)).toContain("team_busy");
}

/** Lets the active run come to its end: whatever it asks for it gets. */
async function finish(subject: TestTeam): Promise<void> {
  for (let rounds = 0; rounds < 150; rounds++) {
    const { active_run } = value(await subject.gateway.team());
    if (active_run === null) return;
    const run = await subject.rested(active_run);
    if (run.status === "paused") await subject.gateway.resumeRun(active_run);
    for (const { id } of run.requests) {
      await subject.gateway.answer(active_run, id, { content: "fine" });
    }
  }
  throw new Error("the run does not come to its end");
}

const TERMINALS = ["result", "failed", "cancelled"];

async function check(
  subject: TestTeam,
  effects: ReadonlyMap<string, number>,
  queued: readonly string[],
): Promise<void> {
  expect(await subject.alarm()).toBeNull();
  expect([...effects.values()].filter((count) => count > 1)).toEqual([]);
  expect(await subject.sql("select id from question where answer is null")).toEqual([]);

  const events = await subject.sql<{ seq: number; run: number; kind: string; retracted: number }>(
    "select seq, run, kind, retracted from event order by seq",
  );
  const runs = value(await subject.gateway.runs({ limit: 200 })).runs.toReversed();
  const started = runs.filter(({ started_at }) => started_at !== null);
  expect(started.map(({ id }) => id).filter((id) => queued.includes(id))).toEqual(queued);
  const dropped = runs.filter(({ started_at }) => started_at === null);
  expect(dropped.map(({ status }) => status)).toEqual(dropped.map(() => "cancelled"));
  expect(events.filter(({ run }) => run === 0).map(({ kind }) => kind)).toEqual(
    dropped.map(() => "cancelled"),
  );
  for (const run of dropped) await checkStream(subject, run);
  for (const [index, run] of started.entries()) {
    const own = events.filter((event) => event.run === index + 1);
    expect(own.filter(({ kind }) => TERMINALS.includes(kind))).toHaveLength(1);
    expect(TERMINALS).toContain(own.at(-1)?.kind);
    await checkStream(subject, run);
  }
  await checkThread(subject);
}

/** The stream of a run that is over shows each recorded event once, whatever the cursor. */
async function checkStream(subject: TestTeam, run: RunInfo): Promise<void> {
  const frames = await subject.frames(run.id);
  expect(frames[0]?.event).toBe("run");
  const recorded = frames.filter(({ id }) => id !== undefined);
  const ids = recorded.map(({ id }) => id ?? 0);
  expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
  const middle = ids[ids.length >> 1] ?? 0;
  const again = await subject.frames(run.id, middle);
  expect(again.filter(({ id }) => id !== undefined)).toEqual(
    recorded.filter(({ id }) => (id ?? 0) > middle),
  );
  const last = recorded.at(-1) as Frame;
  if (run.status !== "completed") return;
  const taken = new Set(
    recorded.flatMap(({ event, data }) =>
      event === "retract" ? (data as { message_ids: string[] }).message_ids : [],
    ),
  );
  const { message_ids } = last.data as { message_ids: string[] };
  const shown = recorded.filter(({ event }) => event === undefined).slice(0, -1);
  const stays = shown.map(({ data }) => (data as { id: string }).id);
  // What was taken back may have been said again.
  expect(message_ids.every((id) => stays.includes(id))).toBe(true);
  expect(stays.filter((id) => !taken.has(id) && !message_ids.includes(id))).toEqual([]);
}

/** The thread is what the log says was said since the last reset. */
async function checkThread(subject: TestTeam): Promise<void> {
  const state = value(await subject.gateway.saveState()) as {
    agent_states: { [name: string]: { message_thread?: { id: string }[] } };
  };
  const thread = Object.values(state.agent_states).flatMap((own) => own.message_thread ?? []);
  const log = value(await subject.gateway.messages({ limit: 200 })).messages;
  // A turn that was given up leaves none of its thoughts.
  const thoughts = log.filter(({ type }) => type === "ThoughtEvent");
  expect(thoughts).toHaveLength(
    4 * log.filter(({ type, source }) => type === "TextMessage" && source === "works").length,
  );
  const chat = log.filter(({ type }) => type !== "ThoughtEvent").map(({ id }) => id);
  expect(chat.slice(chat.length - thread.length)).toEqual(thread.map(({ id }) => id));
}

describe("a run with random interruptions", () => {
  test("has one outcome, a log that agrees with the thread, and no effect that happens twice", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            action: fc.constantFrom(...ACTIONS),
            content: fc.constantFrom("yes", "no", "fail"),
          }),
          { minLength: 3, maxLength: 16 },
        ),
        async (actions) => {
          const effects = new Map<string, number>();
          const subject = await TestTeam.create(team(effects));
          const queued: string[] = [];
          for (const { action, content } of actions) await act(subject, action, content, queued);
          await finish(subject);
          await check(subject, effects, queued);
        },
      ),
      { numRuns: casesOf(30), seed: 1 },
    );
  }, 120_000);
});
