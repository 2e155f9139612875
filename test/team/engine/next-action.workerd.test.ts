import { describe, expect, test } from "vitest";
import { type NextAction, nextAction, type RunFacts } from "#team/engine/next-action.ts";

const NOW = 1_000_000;

type Run = Parameters<typeof nextAction>[0];

const RUN: Run = {
  status: "running",
  stop_requested: null,
  pause_requested: false,
  resuming: false,
  timeout_seconds: null,
  ran_before: 0,
  wake_at: null,
};

const FACTS: RunFacts = {
  turn: "none",
  answered: false,
  openQuestions: [],
  backoffs: { wakeAt: null },
  now: { at: NOW, ran: 5000 },
};

function question(expiresAt: number | null = null): RunFacts["openQuestions"][number] {
  return {
    question: { id: "q", kind: "input", source: "user", prompt: "?" },
    run: "run",
    createdAt: 0,
    expiresAt,
    answer: undefined,
  };
}

const OPEN = question();
const EXPIRED = question(NOW);

const TURN = { do: "turn", wakes: false } as const;
const COMPLETE = { do: "complete", stopReason: "External termination requested" } as const;
const RUNNING = { do: "wait", status: "running", wakeAt: null } as const;
const WAITING = { do: "wait", status: "waiting", wakeAt: null } as const;
const PAUSED = { do: "wait", status: "paused", wakeAt: null } as const;
const timeout = { do: "fail", error: { code: "run_timeout" } };

type Row = [what: string, run: Partial<Run>, facts: Partial<RunFacts>, action: NextAction | object];

describe("the next action of a run", () => {
  test.each<Row>([
    ["runs a turn after a commit", {}, {}, TURN],
    ["runs an interrupted turn again", {}, { turn: "interrupted" }, TURN],
    ["leaves a turn alone that is running", {}, { turn: "running" }, RUNNING],

    ["completes between turns", { stop_requested: "after_turn" }, {}, COMPLETE],
    [
      "completes instead of waiting",
      { stop_requested: "after_turn", status: "waiting" },
      { turn: "suspended", openQuestions: [OPEN] },
      COMPLETE,
    ],
    [
      "completes a paused run",
      { stop_requested: "after_turn", status: "paused", pause_requested: true },
      { turn: "suspended" },
      COMPLETE,
    ],
    [
      "completes rather than pauses",
      { stop_requested: "after_turn", pause_requested: true },
      {},
      COMPLETE,
    ],
    [
      "first runs an interrupted turn",
      { stop_requested: "after_turn" },
      { turn: "interrupted" },
      TURN,
    ],
    [
      "lets a running turn end first",
      { stop_requested: "after_turn" },
      { turn: "running" },
      RUNNING,
    ],

    ["pauses between turns", { pause_requested: true }, {}, { do: "pause" }],
    [
      "pauses before an interrupted turn",
      { pause_requested: true },
      { turn: "interrupted" },
      { do: "pause" },
    ],
    [
      "pauses a waiting run",
      { pause_requested: true, status: "waiting" },
      { turn: "suspended", openQuestions: [OPEN] },
      { do: "pause" },
    ],
    [
      "pauses during a backoff",
      { pause_requested: true, wake_at: NOW + 1 },
      { turn: "suspended", backoffs: { wakeAt: NOW + 1 } },
      { do: "pause" },
    ],
    [
      "lets a running turn reach its next step",
      { pause_requested: true },
      { turn: "running" },
      RUNNING,
    ],
    ["stays paused", { pause_requested: true, status: "paused" }, { turn: "suspended" }, PAUSED],
    [
      "stays paused though a question has expired",
      { pause_requested: true, status: "paused" },
      { turn: "suspended", openQuestions: [EXPIRED] },
      PAUSED,
    ],
    [
      "notifies the agents after a pause",
      { resuming: true },
      { turn: "interrupted" },
      { do: "resume", wakes: false },
    ],
    [
      "waits after a pause that was taken back",
      { resuming: true, status: "waiting" },
      { turn: "suspended", openQuestions: [OPEN] },
      WAITING,
    ],

    ["waits for an answer", {}, { turn: "suspended", openQuestions: [OPEN] }, WAITING],
    [
      "continues after one of two answers",
      {},
      { turn: "suspended", answered: true, openQuestions: [OPEN] },
      TURN,
    ],
    [
      "answers an expired question",
      { status: "waiting" },
      { turn: "suspended", openQuestions: [OPEN, EXPIRED] },
      { do: "answer_by_default", questions: [EXPIRED] },
    ],
    [
      "answers it during a turn",
      {},
      { turn: "running", openQuestions: [EXPIRED] },
      { do: "answer_by_default", questions: [EXPIRED] },
    ],
    [
      "keeps a question open until it expires",
      { status: "waiting" },
      { turn: "suspended", openQuestions: [question(NOW + 1)] },
      WAITING,
    ],

    [
      "waits for a backoff",
      {},
      { turn: "suspended", backoffs: { wakeAt: NOW + 1 } },
      { do: "wait", status: "running", wakeAt: NOW + 1 },
    ],
    [
      "waits for a human and a backoff",
      {},
      { turn: "suspended", backoffs: { wakeAt: NOW + 1 }, openQuestions: [OPEN] },
      { do: "wait", status: "waiting", wakeAt: NOW + 1 },
    ],
    [
      "runs the turn after a backoff",
      { wake_at: NOW },
      { turn: "suspended", backoffs: { wakeAt: NOW } },
      { ...TURN, wakes: true },
    ],
    [
      "fails when a suspended turn waits for nothing",
      {},
      { turn: "suspended" },
      { do: "fail", error: { code: "internal" } },
    ],

    ["fails at the time limit", { timeout_seconds: 5 }, {}, timeout],
    ["fails during a turn", { timeout_seconds: 5 }, { turn: "running" }, timeout],
    [
      "fails rather than completes",
      { timeout_seconds: 5, stop_requested: "after_turn" },
      {},
      timeout,
    ],
    ["runs until the time limit", { timeout_seconds: 5.001 }, {}, TURN],
    ["does not count what a retried run had used", { timeout_seconds: 5, ran_before: 1 }, {}, TURN],
    [
      "has no time limit while a human is asked",
      { timeout_seconds: 5, status: "waiting" },
      { turn: "suspended", openQuestions: [OPEN] },
      WAITING,
    ],
    [
      "has no time limit while paused",
      { timeout_seconds: 5, status: "paused" },
      { turn: "suspended" },
      PAUSED,
    ],
  ])("%s", (_what, run, facts, action) => {
    expect(nextAction({ ...RUN, ...run }, { ...FACTS, ...facts })).toMatchObject(action);
  });
});
