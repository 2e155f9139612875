import { expect, test } from "vitest";
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
