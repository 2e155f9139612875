import {
  activeRun,
  commit,
  type Committed,
  type Drive,
  ended,
  last,
  NEW_DRIVE,
  type Run,
  type Team,
  withRun,
} from "./team-model.ts";

/** The next thing that the team does by itself; undefined when it waits for a human. */
export function advance(team: Team): Team | undefined {
  const { drive } = team;
  const run = activeRun(team);
  if (!drive || !run) return undefined;
  if (drive.ends) return stopped(team);
  if (drive.in === null) return between(team, run, drive);
  if (run.turn === "task") {
    const { said, next } = last(team);
    return committed(team, run, { said: run.task === null ? said : [...said, run.task], next });
  }
  return run.turn === "work" ? work(team, run, drive) : ask(team, run, drive);
}

/** Between two turns a stop or a pause comes into force. */
function between(team: Team, run: Run, drive: Drive): Team {
  if (run.stop !== null && (!drive.first || team.pause)) return stopped(team);
  if (team.pause) return withRun({ ...team, drive: null }, { status: "paused" });
  // A pause that was taken back before it began.
  if (run.status !== "running") return { ...team, drive: null };
  return { ...team, drive: { ...drive, first: false, in: "begun" } };
}

function work(team: Team, run: Run, drive: Drive): Team | undefined {
  if (run.step) {
    const { text, fails } = run.step;
    if (fails) return ended(withRun(team, { step: null }), "failed");
    return committed(team, run, { said: [...last(team).said, text], next: "ask" });
  }
  if (drive.in === "begun") return { ...team, drive: { ...drive, in: team.pause ? null : "held" } };
  if (drive.in === "held" || drive.in === null) return undefined;
  return withRun(team, { step: drive.in });
}

function ask(team: Team, run: Run, drive: Drive): Team {
  const { turnId } = run;
  const question = team.questions[turnId];
  if (question?.answer != null) {
    return committed(team, run, { said: [...last(team).said, question.answer], next: "work" });
  }
  const questions = { ...team.questions, [turnId]: { run: run.id, answer: null } };
  const asked = { ...team, questions };
  if (run.stop !== null || team.pause) return { ...asked, drive: { ...drive, in: null } };
  return withRun({ ...asked, drive: null }, { status: "waiting" });
}

function committed(team: Team, run: Run, to: Committed): Team {
  const done = commit(team, to);
  if (run.stop !== null) return ended(done, "completed");
  return withRun(
    { ...done, turnIds: done.turnIds + 1, drive: { ...NEW_DRIVE, first: false } },
    { turn: to.next, turnId: `turn ${done.turnIds}`, step: null },
  );
}

/** The run ends between two turns, which is committed as a turn. */
function stopped(team: Team): Team {
  return ended(commit(team, last(team)), "completed");
}
