/**
 * What a team of a worker and a human, who speak in turn without end, is expected to do, as a small machine. Here: what
 * there is, and what a call changes of it at once. What the team then does by itself stands in `team-progress.ts`.
 */

/** A call of a client. `run` and `request` name what the client knew when it called. */
export type Call =
  | { kind: "create" }
  | { kind: "destroy" }
  | { kind: "reset" }
  | { kind: "replace" }
  | { kind: "save" }
  /** What the client had saved before, in the form of the model or of the real team. */
  | { kind: "load"; saved: unknown }
  | { kind: "start"; task: string | null; interrupt: boolean }
  | { kind: "fork"; turn: number | null }
  | { kind: "retry"; run: string }
  | { kind: "pause"; run: string }
  | { kind: "resume"; run: string }
  | { kind: "stop"; run: string; mode: "after_turn" | "now" }
  | { kind: "answer"; run: string; request: string; text: string }
  /** Lets the worker continue that is in the middle of its turn. */
  | { kind: "release"; text: string; fails: boolean };

type Speaker = "work" | "ask";

/** What was committed. */
export interface Committed {
  said: readonly string[];
  next: Speaker;
}

export interface Run {
  id: string;
  status: "running" | "waiting" | "paused" | "completed" | "cancelled" | "failed";
  stop: "after_turn" | "now" | null;
  task: string | null;
  /** The turn it is in, or was when it ended. */
  turn: "task" | Speaker;
  /** Names the turn; a retry begins with the turn it repeats. */
  turnId: string;
  epoch: number;
  /** The run that it repeats. */
  retryOf: string | null;
  /** What its turn has on record: the result of the worker's step. */
  step: { text: string; fails: boolean } | null;
}

/** The stretch of running that is under way. */
export interface Drive {
  /** Whether it is between two turns and has carried out none. */
  first: boolean;
  /** Whether it is in a turn, and in which part: `held` until it is released, `released` until that is recorded. */
  in: null | "begun" | "held" | { text: string; fails: boolean };
  /** It began at rest, to end the run. */
  ends: boolean;
}

interface Question {
  run: string;
  answer: string | null;
}

export interface Team {
  lives: number;
  exists: boolean;
  /** By turn. */
  history: readonly Committed[];
  runs: readonly Run[];
  pause: boolean;
  drive: Drive | null;
  questions: Readonly<Record<string, Question>>;
  epoch: number;
  version: number;
  turnIds: number;
  saved: Committed | null;
  forks: readonly (readonly string[])[];
}

export const NOTHING: Team = {
  lives: 0,
  exists: false,
  history: [],
  runs: [],
  pause: false,
  drive: null,
  questions: {},
  epoch: 0,
  version: 0,
  turnIds: 0,
  saved: null,
  forks: [],
};

const EMPTY: Committed = { said: [], next: "work" };

/** What the call does at once, and its answer: `ok` or the code of a problem. */
export function apply(team: Team, call: Call): [Team, string] {
  if (call.kind === "create") {
    return team.exists ? [team, "team_exists"] : [created(team), "ok"];
  }
  if (call.kind === "release") return [release(team, call), "ok"];
  if (!team.exists) return [team, "team_not_found"];
  const active = activeRun(team);
  switch (call.kind) {
    case "destroy": {
      const { lives, turnIds, saved, forks } = team;
      return [{ ...NOTHING, lives, turnIds, saved, forks }, "ok"];
    }
    case "save":
      return [{ ...team, saved: last(team) }, "ok"];
    case "fork": {
      const at = call.turn ?? team.history.length - 1;
      const then = team.history[at];
      return then ? [{ ...team, forks: [...team.forks, then.said] }, "ok"] : [team, "unknown_turn"];
    }
    case "reset":
    case "load":
    case "replace":
      return active ? [team, "team_busy"] : [changed(team, call), "ok"];
    case "start":
      if (active && !call.interrupt) return [team, "team_busy"];
      return [started(active ? ended(team, "cancelled") : team, call.task), "ok"];
    case "retry":
      return retry(team, call.run);
    default:
      return onRun(team, call);
  }
}

function created({ lives, turnIds, saved, forks }: Team): Team {
  return {
    ...NOTHING,
    lives: lives + 1,
    turnIds,
    saved,
    forks,
    exists: true,
    version: 1,
    history: [EMPTY],
  };
}

function changed(team: Team, call: Extract<Call, { kind: "reset" | "load" | "replace" }>): Team {
  if (call.kind === "replace") return commit({ ...team, version: team.version + 1 }, last(team));
  const next = call.kind === "load" ? (call.saved as Committed | null) : null;
  return commit({ ...team, epoch: team.epoch + 1 }, next ?? EMPTY);
}

function started(team: Team, task: string | null): Team {
  const id = `${team.lives}:${team.runs.length + 1}`;
  const run: Run = {
    id,
    status: "running",
    stop: null,
    task,
    turn: "task",
    turnId: `turn ${team.turnIds}`,
    epoch: team.epoch,
    retryOf: null,
    step: null,
  };
  return {
    ...team,
    turnIds: team.turnIds + 1,
    runs: [...team.runs, run],
    pause: false,
    drive: NEW_DRIVE,
  };
}

export const NEW_DRIVE: Drive = { first: true, in: null, ends: false };

function retry(team: Team, id: string): [Team, string] {
  const run = team.runs.find((one) => one.id === id);
  if (!run) return [team, "run_not_found"];
  // The same request again: it answers with the run that it started, as long as no other began since.
  if (team.runs.at(-1)?.retryOf === id) return [team, "ok"];
  if (team.runs.at(-1) !== run) return [team, "not_latest_run"];
  if (run.status !== "cancelled" && run.status !== "failed") return [team, "not_retryable"];
  if (run.epoch !== team.epoch) return [team, "not_retryable"];
  const again: Run = {
    ...run,
    id: `${team.lives}:${team.runs.length + 1}`,
    status: "running",
    stop: null,
    retryOf: id,
  };
  return [{ ...team, runs: [...team.runs, again], pause: false, drive: NEW_DRIVE }, "ok"];
}

function onRun(
  team: Team,
  call: Extract<Call, { kind: "pause" | "resume" | "stop" | "answer" }>,
): [Team, string] {
  const run = team.runs.find(({ id }) => id === call.run);
  if (!run) return [team, "run_not_found"];
  if (call.kind === "answer") return answer(team, run, call.request, call.text);
  if (activeRun(team) !== run) {
    return [team, call.kind === "stop" && run.stop === call.mode ? "ok" : "run_ended"];
  }
  const rests = run.status !== "running";
  switch (call.kind) {
    case "stop": {
      const asked = withRun(team, { stop: call.mode });
      if (call.mode === "now") return [ended(asked, "cancelled"), "ok"];
      if (!rests) return [asked, "ok"];
      return [{ ...asked, drive: { ...(asked.drive ?? NEW_DRIVE), ends: true } }, "ok"];
    }
    case "pause":
      return [{ ...team, pause: true, drive: team.drive ?? (rests ? NEW_DRIVE : null) }, "ok"];
    case "resume": {
      if (!team.pause) return [team, "ok"];
      const on = { ...team, pause: false };
      if (run.status !== "paused") return [on, "ok"];
      return [withRun({ ...on, drive: on.drive ?? NEW_DRIVE }, { status: "running" }), "ok"];
    }
  }
}

function answer(team: Team, run: Run, request: string, text: string): [Team, string] {
  const question = team.questions[request];
  if (!question || (question.run !== run.id && question.answer === null)) {
    return [team, isOver(run) ? "run_ended" : "request_not_found"];
  }
  if (question.answer !== null) return [team, question.answer === text ? "ok" : "already_answered"];
  const questions = { ...team.questions, [request]: { ...question, answer: text } };
  const told = { ...team, questions };
  if (run.status !== "waiting") return [told, "ok"];
  return [withRun({ ...told, drive: told.drive ?? NEW_DRIVE }, { status: "running" }), "ok"];
}

function release(team: Team, { text, fails }: { text: string; fails: boolean }): Team {
  if (team.drive?.in !== "held") return team;
  return { ...team, drive: { ...team.drive, in: { text, fails } } };
}

export function commit(team: Team, to: Committed): Team {
  return { ...team, history: [...team.history, to] };
}

export function ended(team: Team, status: "completed" | "cancelled" | "failed"): Team {
  const run = activeRun(team);
  const questions = Object.entries(team.questions).filter(
    ([, question]) => question.run !== run?.id || question.answer !== null,
  );
  return withRun(
    { ...team, questions: Object.fromEntries(questions), drive: null, pause: false },
    { status },
  );
}

/** The object was unloaded and loaded again. */
export function restarted(team: Team): Team {
  return activeRun(team)?.status === "running" ? { ...team, drive: NEW_DRIVE } : team;
}

export function activeRun({ runs }: Team): Run | undefined {
  const run = runs.at(-1);
  return run && !isOver(run) ? run : undefined;
}

function isOver({ status }: Run): boolean {
  return status === "completed" || status === "cancelled" || status === "failed";
}

export function last({ history }: Team): Committed {
  return history.at(-1) ?? EMPTY;
}

export function withRun(team: Team, changes: Partial<Run>): Team {
  return {
    ...team,
    runs: team.runs.map((run, index) =>
      index === team.runs.length - 1 ? { ...run, ...changes } : run,
    ),
  };
}
