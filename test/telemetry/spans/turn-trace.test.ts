import { expect, test } from "vitest";
import { turnSpans } from "#telemetry/spans/run-spans.ts";
import { TurnTrace } from "#telemetry/spans/turn-trace.ts";

const AT = Date.parse("2026-11-23T00:00:00.000Z");

const trace = (): TurnTrace =>
  new TurnTrace({ since: 0, recovering: false, discarded: { spans: [], dropped: 0 } });

const step = { kind: "effect", policy: "retry", attempt: 1, fingerprint: "" } as const;

test("spans of the same millisecond keep their order, agents before their steps", () => {
  const turn = trace();
  turn.described("speaker:writer", { kind: "agent", name: "writer" }, AT);
  turn.attemptStarted("speaker:writer/model:0", step, AT);
  turn.waits({ id: "0123456789", source: "writer", start: AT, end: AT }, "speaker:writer");
  turn.attemptStarted("speaker:writer/tool:0:0/call", step, AT);
  turn.described("speaker:b", { kind: "agent", name: "b" }, AT);
  turn.attemptStarted("speaker:b/model:0", step, AT);
  turn.attemptStarted("speaker:writer/model:1", step, AT);
  expect(turn.spans().spans.map(({ path }) => path)).toEqual([
    "speaker:writer",
    "speaker:writer/model:0",
    "speaker:writer/ask:01234567",
    "speaker:writer/tool:0:0/call",
    "speaker:b",
    "speaker:b/model:0",
    "speaker:writer/model:1",
  ]);
});

test("a step that was discarded comes after the one that replaced it in the same millisecond", () => {
  const turn = trace();
  turn.described("speaker:writer", { kind: "agent", name: "writer" }, AT);
  const key = "speaker:writer/model:0";
  const kept = turn.attemptStarted(key, step, AT);
  const outcome = { ok: null, time: { at: AT, ran: 0 } };
  turn.ended(key, { ...step, outcome }, {});
  turn.discard([[key, { ...step, outcome, trace: kept }]]);
  turn.attemptStarted(key, step, AT);
  expect(turn.spans().spans.map(({ path, discarded }) => [path, discarded])).toEqual([
    ["speaker:writer", false],
    [key, false],
    [key, true],
  ]);
});

test("a step keeps its first failed attempts and the last one, with their numbers, also when its turn runs again", () => {
  const key = "speaker:writer/model:0";
  let turn = trace();
  let kept: ReturnType<TurnTrace["attemptFailed"]>;
  for (let attempt = 1; attempt <= 30; attempt++) {
    const at = AT + attempt * 1_000;
    turn.attemptStarted(key, { ...step, attempt }, at, kept);
    kept = turn.attemptFailed(key, new Error("away"), { at: at + 100, nextAt: at + 900, text: "" });
    // The object is unloaded between the attempts.
    turn = trace();
  }
  const waiting = trace();
  waiting.underWayBefore(key, { ...step, attempt: 30 }, AT, kept);
  const [span] = waiting.spans().spans;
  const numbers = Array.from({ length: 19 }, (_, index) => index + 1);
  expect(span?.failed.map(({ attempt }) => attempt)).toEqual([...numbers, 30]);
  const run = { number: 1, turn: 1, start: AT, end: null, error: null };
  const last = turnSpans("run", { ...run, ...waiting.spans() }).at(-1);
  expect(last).toMatchObject({ kind: "backoff", start: AT + 30_100, end: null });

  waiting.attemptStarted(key, { ...step, attempt: 31 }, AT + 31_000);
  const now = turnSpans("run", { ...run, ...waiting.spans() }).slice(-2);
  expect(now).toMatchObject([
    { kind: "backoff", start: AT + 30_100, end: AT + 31_000 },
    { kind: "attempt", name: "attempt 31", start: AT + 31_000, end: null, error: null },
  ]);
});
