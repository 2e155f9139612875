import { TroupeError } from "../../core/errors.ts";
import { refuse, type Refused } from "../../contract/result.ts";

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

export function teamBusy(run: string): Refused {
  return refuse(409, "team_busy", "The team has an active run.", { run_id: run });
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
