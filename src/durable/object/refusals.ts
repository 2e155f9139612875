import { TroupeError } from "../../core/errors.ts";
import { refuse, type Refused } from "../../contract/result.ts";
import { MAX_QUEUED_RUNS, MAX_STATE_DOCUMENT_BYTES } from "../../contract/constants.ts";

/** A guess: the end of the active run cannot be foreseen. */
const RETRY_QUEUE_SECONDS = 15;

export function teamNotFound(): Refused {
  return refuse(404, "team_not_found", "There is no such team.");
}

/** The team that had this id was deleted, and its tenant cannot be told at the moment. */
export function stillBeingDeleted(): Refused {
  const detail = "The team that had this id is still being deleted. Try again.";
  const { problem } = refuse(503, "temporarily_unavailable", detail);
  return { ok: false, problem: { ...problem, retry_after: 1 } };
}

export function runNotFound(): Refused {
  return refuse(404, "run_not_found", "The team has no such run.");
}

export function stateTooLarge(): Refused {
  const detail = `The state is larger than ${MAX_STATE_DOCUMENT_BYTES} bytes, the most that one document may have: read it in parts (GET .../state/parts).`;
  return refuse(413, "state_too_large", detail, { limit: MAX_STATE_DOCUMENT_BYTES });
}

/** @param run the active run, or the one that starts next */
export function teamBusy(run: string): Refused {
  return refuse(409, "team_busy", "The team has an active run.", { run_id: run });
}

export function tooManyQueuedRuns(): Refused {
  const detail = `The team has ${MAX_QUEUED_RUNS} queued runs, the most that are allowed. Try again when one of them has started.`;
  return {
    ok: false,
    problem: {
      status: 429,
      code: "too_many_queued_runs",
      detail,
      retry_after: RETRY_QUEUE_SECONDS,
      extra: { limit: "queued_runs", value: MAX_QUEUED_RUNS },
    },
  };
}

export function invalidCursor(): Refused {
  const message = "must be the next_cursor of an earlier page";
  const errors = [{ path: "cursor", message }];
  const detail = `cursor ${message}.`;
  return { ok: false, problem: { status: 422, code: "invalid_cursor", detail, errors } };
}

export function idempotencyMismatch(): Refused {
  const detail = "The Idempotency-Key was used before for another request.";
  const errors = [{ path: "Idempotency-Key", message: "was used before for another request" }];
  return { ok: false, problem: { status: 422, code: "idempotency_mismatch", detail, errors } };
}

/** Turns an error about the input into a refusal. @throws any other error: it is a fault of the service */
export function refuseInput(error: unknown): Refused {
  if (!(error instanceof TroupeError) || error.code === "internal") throw error;
  const { code, message, issues } = error;
  return { ok: false, problem: { status: 422, code, detail: message, errors: issues } };
}
