import { describe, expect, test } from "vitest";
import { NO_USAGE } from "#contract/usage/model-usage.ts";
import { requestedRun, retryingRun, takenOver } from "#team/engine/new-run.ts";
import * as state from "#team/engine/run-state.ts";
import type { RunRecord } from "#team/storage/runs/run-record.ts";

const CREATED = "2026-01-01T00:00:00.000Z";
const AT = "2026-01-01T00:01:00.000Z";
const NOW = Date.parse(AT);
const TOKENS = { "gpt-4o": { prompt_tokens: 3, completion_tokens: 2 } };
const COUNTED = {
  usage: { prompt_tokens: 3, completion_tokens: 2 },
  models: {},
  next_turn: 2,
  turn: 7,
};
const RESTARTED = { restarts: { after: 9, count: 1 } };
const NOTE = { agent: "writer", message: "left something out" };
const ERROR = { type: "run_failed", message: "broken" };
const STEP = { key: "a/1", name: "search" };

const QUEUED = requestedRun("run", CREATED, {
  task: null,
  output_task_messages: true,
  on_conflict: "queue",
  timeout_seconds: null,
  max_total_tokens: null,
  max_cost: null,
  metadata: {},
  webhook: null,
});
const RUNNING: RunRecord = state.started(QUEUED, {
  at: CREATED,
  turn: 3,
  epoch: 1,
  event: 5,
  component_version: 1,
});

type Transition = Exclude<keyof typeof state, "restartsSince">;
/** Its record before, the transition, and the fields that differ after it; undefined where it is refused. */
type Row = [
  what: string,
  name: Transition,
  from: Partial<RunRecord>,
  change: (record: RunRecord) => RunRecord,
  to: Partial<RunRecord> | undefined,
];

const queuedRow = { ...QUEUED };
const over = { status: "completed", ended_at: AT } as const;
const recovery = { turn: 4, interrupted: 10, now: 20, event: 9 };
const traced = { trace: { after: 3, recoveries: [[4, 10, 20] as const] } };
const end = {
  at: AT,
  ran: 50,
  event: 12,
  lastTurn: { started: { at: 1, ran: 2 } },
  counted: COUNTED,
};
const ended = {
  ...COUNTED,
  ran: 50,
  last_event: 12,
  last_turn: { started: { at: 1, ran: 2 } },
  ended_at: AT,
};

const ROWS: Row[] = [
  ["a run has to wait", "queued", queuedRow, (run) => state.queued(run, 6), { turn: 6 }],
  [
    "a queued run starts",
    "started",
    queuedRow,
    (run) => state.started(run, { at: AT, turn: 6, epoch: 2, event: 8, component_version: 4 }),
    {
      component_version: 4,
      status: "running",
      started_at: AT,
      first_moment: { at: NOW, ran: 0 },
      turn: 6,
      trace: { after: 6 },
      epoch: 2,
      first_event: 8,
    },
  ],
  [
    "a queued run is cancelled",
    "cancelledInQueue",
    queuedRow,
    (run) => state.cancelledInQueue(run, { mode: "now", turn: 6, event: 8, at: AT }),
    {
      status: "cancelled",
      stop_requested: "now",
      turn: 6,
      first_event: 8,
      last_event: 9,
      ended_at: AT,
    },
  ],
  [
    "a run that has started is not cancelled as a queued one",
    "cancelledInQueue",
    {},
    (run) => state.cancelledInQueue(run, { mode: "now", turn: 6, event: 8, at: AT }),
    undefined,
  ],
  [
    "a client asks for the end after the turn",
    "stopRequested",
    {},
    (run) => state.stopRequested(run, "after_turn"),
    { stop_requested: "after_turn" },
  ],
  [
    "a client asks for the end at once after it asked for the end after the turn",
    "stopRequested",
    { stop_requested: "after_turn" },
    (run) => state.stopRequested(run, "now"),
    { stop_requested: "now" },
  ],
  [
    "a client asks for the same end again",
    "stopRequested",
    { stop_requested: "now" },
    (run) => state.stopRequested(run, "now"),
    undefined,
  ],
  [
    "a client asks for a pause",
    "pauseRequested",
    {},
    state.pauseRequested,
    { pause_requested: true },
  ],
  [
    "a client asks for a pause again",
    "pauseRequested",
    { pause_requested: true },
    state.pauseRequested,
    undefined,
  ],
  [
    "a request for a pause is taken back",
    "resumed",
    { pause_requested: true },
    (run) => state.resumed(run, { now: NOW, event: 9, counted: COUNTED }),
    { pause_requested: false },
  ],
  [
    "a pause ends",
    "resumed",
    { pause_requested: true, status: "paused" },
    (run) => state.resumed(run, { now: NOW, event: 9, counted: COUNTED }),
    { ...COUNTED, ...RESTARTED, pause_requested: false, status: "running", resuming: true },
  ],
  [
    "a pause ends in a backoff, whose wait counts as idle again",
    "resumed",
    { pause_requested: true, status: "paused", wake_at: NOW + 5 },
    (run) => state.resumed(run, { now: NOW, event: 9, counted: COUNTED }),
    {
      ...COUNTED,
      ...RESTARTED,
      pause_requested: false,
      status: "running",
      resuming: true,
      rest_since: NOW,
    },
  ],
  [
    "a run without a request for a pause is resumed",
    "resumed",
    {},
    (run) => state.resumed(run, { now: NOW, event: 9, counted: COUNTED }),
    undefined,
  ],
  ["agents were paused", "resumeDue", {}, state.resumeDue, { resuming: true }],
  ["agents were paused twice", "resumeDue", { resuming: true }, state.resumeDue, undefined],
  ["agents are resumed", "resumeDone", { resuming: true }, state.resumeDone, { resuming: false }],
  ["agents are resumed that were not paused", "resumeDone", {}, state.resumeDone, undefined],
  [
    "a run waits for a human",
    "suspended",
    {},
    (run) =>
      state.suspended(run, {
        status: "waiting",
        wakeAt: null,
        time: { at: NOW, ran: 40 },
        counted: COUNTED,
      }),
    { ...COUNTED, status: "waiting", ran: 40 },
  ],
  [
    "a run waits for the end of a backoff, which its time limit counts",
    "suspended",
    {},
    (run) =>
      state.suspended(run, {
        status: "running",
        wakeAt: NOW + 5,
        time: { at: NOW, ran: 40 },
        counted: COUNTED,
      }),
    { ...COUNTED, ran: 40, wake_at: NOW + 5, rest_since: NOW },
  ],
  [
    "a run that has ended does not wait",
    "suspended",
    over,
    (run) =>
      state.suspended(run, {
        status: "waiting",
        wakeAt: null,
        time: { at: NOW, ran: 40 },
        counted: COUNTED,
      }),
    undefined,
  ],
  [
    "a waiting run continues",
    "continued",
    { status: "waiting", wake_at: 4, rest_since: 3 },
    (run) => state.continued(run, { ran: 40, event: 9, counted: COUNTED }),
    { ...COUNTED, ...RESTARTED, status: "running", ran: 40, wake_at: null, rest_since: null },
  ],
  [
    "a run that has ended does not continue",
    "continued",
    over,
    (run) => state.continued(run, { ran: 40, event: 9, counted: COUNTED }),
    undefined,
  ],
  [
    "a run runs again after the same event",
    "restarted",
    RESTARTED,
    (run) => state.restarted(run, 9),
    { restarts: { after: 9, count: 2 } },
  ],
  [
    "a run runs again after another event",
    "restarted",
    RESTARTED,
    (run) => state.restarted(run, 10),
    { restarts: { after: 10, count: 1 } },
  ],
  [
    "a first interruption",
    "recovered",
    {},
    (run) => state.recovered(run, { ...recovery, progress: [1, 2, 0] }),
    { ...RESTARTED, ...traced, recovery_mark: "1:2:0", recoveries: 1 },
  ],
  [
    "an interruption without progress counts",
    "recovered",
    { recovery_mark: "1:2:0", recoveries: 1 },
    (run) => state.recovered(run, { ...recovery, progress: [1, 2, 0] }),
    { ...RESTARTED, ...traced, recoveries: 2 },
  ],
  [
    "an interruption after another step starts the count over and clears the suspicion",
    "recovered",
    {
      recovery_mark: "1:2:0",
      recoveries: 4,
      suspicion: { counts: true, uncounted: 3, step: STEP },
    },
    (run) => state.recovered(run, { ...recovery, progress: [1, 3, 0] }),
    { ...RESTARTED, ...traced, recovery_mark: "1:3:0", recoveries: 1, suspicion: undefined },
  ],
  [
    "an interruption in a later turn starts the count over, although the turn has fewer steps",
    "recovered",
    { recovery_mark: "1:2:1", recoveries: 4 },
    (run) => state.recovered(run, { ...recovery, progress: [2, 0, 0] }),
    { ...RESTARTED, ...traced, recovery_mark: "2:0:0", recoveries: 1 },
  ],
  [
    "steps that were forgotten are not progress when they come again",
    "recovered",
    { recovery_mark: "1:5:0", recoveries: 1 },
    (run) => state.recovered(run, { ...recovery, progress: [1, 4, 1] }),
    { ...RESTARTED, ...traced, recovery_mark: "1:5:1", recoveries: 1 },
  ],
  [
    "an interruption that another run may have caused does not count",
    "recovered",
    { recovery_mark: "1:2:0", recoveries: 2, suspicion: { counts: false, uncounted: 3 } },
    (run) => state.recovered(run, { ...recovery, progress: [1, 2, 0] }),
    { ...RESTARTED, ...traced, suspicion: { counts: false, uncounted: 4 } },
  ],
  [
    "a suspect runs a step of its own",
    "suspected",
    {},
    (run) => state.suspected(run, { step: STEP }),
    { suspicion: { counts: true, uncounted: 0, step: STEP } },
  ],
  [
    "a suspect gives way",
    "suspected",
    { suspicion: { counts: true, uncounted: 2, step: STEP } },
    (run) => state.suspected(run, { counts: false }),
    { suspicion: { counts: false, uncounted: 2, step: STEP } },
  ],
  [
    "a step is discarded whose model call counts",
    "discarded",
    {},
    (run) => state.discarded(run, { turn: 1, tokens: TOKENS }),
    { discarded: { turn: 1, tokens: TOKENS } },
  ],
  [
    "the discarded calls of a turn add up, and their spans stay",
    "discarded",
    { discarded: { turn: 1, tokens: TOKENS, spans: [4] } },
    (run) => state.discarded(run, { turn: 1, tokens: TOKENS }),
    {
      discarded: {
        turn: 1,
        tokens: { "gpt-4o": { prompt_tokens: 6, completion_tokens: 4 } },
        spans: [4],
      },
    },
  ],
  [
    "the discarded calls of another turn do not count",
    "discarded",
    { discarded: { turn: 0, tokens: TOKENS } },
    (run) => state.discarded(run, { turn: 1, tokens: TOKENS }),
    { discarded: { turn: 1, tokens: TOKENS } },
  ],
  [
    "a commit takes over what the turn has discarded",
    "committed",
    { discarded: { turn: 1, tokens: TOKENS } },
    state.committed,
    { discarded: undefined },
  ],
  ["a turn is committed that has discarded nothing", "committed", {}, state.committed, undefined],
  ["a run gets a note", "noted", {}, (run) => state.noted(run, NOTE), { notes: [NOTE] }],
  [
    "a run gets the same note again",
    "noted",
    { notes: [NOTE] },
    (run) => state.noted(run, NOTE),
    undefined,
  ],
  [
    "a run has 20 notes",
    "noted",
    { notes: Array.from({ length: 20 }, (_, n) => ({ agent: null, message: `note ${n}` })) },
    (run) => state.noted(run, NOTE),
    undefined,
  ],
  [
    "a client changes the push configs",
    "pushedTo",
    {},
    (run) => state.pushedTo(run, []),
    { push: [] },
  ],
  [
    "calls after the end have used more",
    "usedLater",
    over,
    (run) => state.usedLater(run, NO_USAGE),
    { ...NO_USAGE },
  ],
  [
    "a run completes",
    "ended",
    { pause_requested: true },
    (run) => state.ended(run, { status: "completed", stopReason: "done" }, end),
    { ...ended, status: "completed", stop_reason: "done", pause_requested: false },
  ],
  [
    "a run fails in a backoff",
    "ended",
    { wake_at: 4, rest_since: 3 },
    (run) => state.ended(run, { status: "failed", error: ERROR }, end),
    { ...ended, status: "failed", error: ERROR, wake_at: null, rest_since: null },
  ],
  [
    "a run is cancelled",
    "ended",
    { stop_requested: "now" },
    (run) => state.ended(run, { status: "cancelled" }, end),
    { ...ended, status: "cancelled" },
  ],
];

describe("a run's record", () => {
  test.each(ROWS)("%s: %s", (_what, _name, fields, change, to) => {
    const from = { ...RUNNING, ...fields };
    const before = structuredClone(from);
    const after = change(from);
    if (to === undefined) expect(after).toBe(from);
    else expect(after).toEqual({ ...before, ...to });
    expect(from).toEqual(before);
  });

  test("each transition has a row", () => {
    const rows = new Set<string>(ROWS.map(([, name]) => name));
    const transitions = Object.keys(state).filter((name) => name !== "restartsSince");
    expect([...rows].toSorted()).toEqual(transitions.toSorted());
  });

  test("the count of restarts belongs to the last event", () => {
    expect(state.restartsSince({ ...RUNNING, ...RESTARTED }, 9)).toBe(1);
    expect(state.restartsSince({ ...RUNNING, ...RESTARTED }, 10)).toBe(0);
    expect(state.restartsSince(RUNNING, 9)).toBe(0);
  });

  test("a retry begins with the turn in which the other run ended, under that turn's ids", () => {
    const from: RunRecord = { ...RUNNING, status: "failed", next_turn: 2, user: "ada" };
    const retry = takenOver(retryingRun("again", AT, from), from, {
      began: { at: 1, ran: 2 },
      ran: 30,
      tokens: TOKENS,
    });
    expect(retry).toMatchObject({
      id: "again",
      user: "ada",
      retry_of: "run",
      first_turn: 2,
      next_turn: 2,
      first_turn_id: "run/2",
      first_moment: { at: 1, ran: 2 },
      taken_over: { tokens: TOKENS },
      ran_before: 30,
      ran: 30,
    });
  });
});
