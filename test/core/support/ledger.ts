import type { Json, JsonObject } from "troupe";

/** The answers of a progress ledger; what is not given says that the work continues. */
export interface LedgerAnswers {
  satisfied?: Json;
  loop?: Json;
  progress?: Json;
  speaker?: Json;
  say?: Json;
  reason?: Json;
}

/** A progress ledger as an object. */
export function ledgerObject(answers: LedgerAnswers = {}): JsonObject {
  const {
    satisfied = false,
    loop = false,
    progress = true,
    speaker = "ann",
    say = "go on",
    reason = "so it is",
  } = answers;
  return {
    is_request_satisfied: { reason, answer: satisfied },
    is_in_loop: { reason, answer: loop },
    is_progress_being_made: { reason, answer: progress },
    next_speaker: { reason, answer: speaker },
    instruction_or_question: { reason, answer: say },
  };
}

/** A progress ledger as a model writes it. */
export function ledger(answers?: LedgerAnswers): string {
  return JSON.stringify(ledgerObject(answers));
}
