import type { TurnInfo } from "troupe/client";

type Ledgers = NonNullable<TurnInfo["ledgers"]>;

/** Both ledgers as a turn left them, if it changed one. */
export interface LedgerRound {
  /** Several turns of a team inside a participant are in one of the outermost team. */
  key: string;
  /** The turn of the outermost team that it is in. */
  turn: number;
  task: { facts: string; plan: string };
  progress: Ledgers["progress_ledger"];
}

/**
 * The rounds of turns, oldest first: a turn that changed neither ledger is not one.
 *
 * @param within the participants around the team; none for the outermost one
 */
export function roundsOf(
  turns: readonly TurnInfo[],
  within: readonly string[] = [],
): LedgerRound[] {
  const rounds: LedgerRound[] = [];
  let task = { facts: "", plan: "" };
  let last = "";
  for (const { key, turn, ledgers } of turns.flatMap((one) => entriesIn(one, within))) {
    task = ledgers.task_ledger ?? task;
    const progress = ledgers.progress_ledger;
    const now = JSON.stringify([task, progress.entry, progress.rounds]);
    if (now === last || task.facts + task.plan === "") continue;
    last = now;
    rounds.push({ key, turn, task, progress });
  }
  return rounds;
}

interface Entry extends Pick<LedgerRound, "key" | "turn"> {
  ledgers: Ledgers;
}

/** The ledgers that a turn left in a team. */
function entriesIn(
  { turn, ledgers, nested_ledgers: nested }: TurnInfo,
  within: readonly string[],
): Entry[] {
  if (within.length === 0) return ledgers === null ? [] : [{ key: `${turn}`, turn, ledgers }];
  return nested
    .filter(({ team }) => team.join("/") === within.join("/"))
    .map((one, index) => ({ key: `${turn} ${index}`, turn, ledgers: one }));
}

const QUESTIONS = {
  is_request_satisfied: "Is the request satisfied?",
  is_in_loop: "Does the team repeat itself?",
  is_progress_being_made: "Is progress being made?",
  next_speaker: "Who speaks next?",
  instruction_or_question: "With which instruction?",
} as const;

/** The answers of a progress ledger as texts, with their reasons. */
export function answersIn(
  entry: NonNullable<LedgerRound["progress"]["entry"]>,
): { question: string; answer: string; reason: string }[] {
  return Object.entries(QUESTIONS).map(([name, question]) => {
    const { answer, reason } = entry[name as keyof typeof QUESTIONS];
    return { question, answer: textOf(answer), reason: textOf(reason) };
  });
}

function textOf(value: unknown): string {
  if (value === true) return "Yes";
  if (value === false) return "No";
  return typeof value === "string" ? value : JSON.stringify(value);
}
