import { activeRun, apply, type Call, last, type Team } from "./team-model.ts";
import { advance } from "./team-progress.ts";

/** What clients can see of it. */
export interface View {
  team: null | {
    status: string;
    turn: number;
    version: number;
    runs: readonly string[];
    said: readonly unknown[];
    asks: boolean;
  };
  saved: readonly unknown[] | null;
  forks: readonly string[];
  /** Whether the worker is in the middle of its turn. */
  held: boolean;
}

export function view(team: Team): View {
  const active = activeRun(team);
  return {
    team: team.exists
      ? {
          status: active?.status ?? "idle",
          turn: team.history.length - 1,
          version: team.version,
          runs: team.runs.map(({ status }) => status),
          said: last(team).said,
          asks: openQuestion(team) !== undefined,
        }
      : null,
    saved: team.saved?.said ?? null,
    forks: team.forks.map((said) => JSON.stringify(said)).toSorted(),
    held: team.drive?.in === "held",
  };
}

export function openQuestion({ questions }: Team): string | undefined {
  return Object.keys(questions).find((id) => questions[id]?.answer === null);
}

export function answeredQuestion({ questions }: Team): string | undefined {
  return Object.keys(questions).findLast((id) => questions[id]?.answer !== null);
}

/** One way in which calls that are made together may end: the team at rest, and the answers in the order of the calls. */
export interface Outcome {
  team: Team;
  answers: readonly string[];
}

/** All ways: the calls in every order, with the team going on by itself in between as far as it likes. */
export function outcomes(team: Team, calls: readonly Call[]): Outcome[] {
  const found = new Map<string, Outcome>();
  const seen = new Set<string>();
  const visit = (now: Team, answers: readonly (string | null)[]): void => {
    const key = JSON.stringify([now, answers]);
    if (seen.has(key)) return;
    seen.add(key);
    const next = advance(now);
    if (next) visit(next, answers);
    else if (!answers.includes(null)) found.set(key, { team: now, answers: answers as string[] });
    for (const [index, call] of calls.entries()) {
      if (answers[index] !== null) continue;
      const [then, answer] = apply(now, call);
      visit(then, answers.with(index, answer));
    }
  };
  visit(
    team,
    calls.map(() => null),
  );
  return [...found.values()];
}
