import type { JsonObject } from "../core/json.ts";
import type { Problem } from "./problem.ts";
import type { RunStatus } from "./run.ts";
import { TroupeError } from "../core/errors.ts";
import { MAX_QUEUED_RUNS, MAX_STATE_DOCUMENT_BYTES, MOST_VERSIONS } from "./constants.ts";

/** The result of a call across the gateway: a value, or the problem to answer the client with. */
export type Result<T> = { ok: true; value: T } | Refused;

export interface Refused {
  ok: false;
  problem: Problem;
}

export function ok<T>(value: T): Result<T> {
  return { ok: true, value };
}

/** @param extra further members of the problem document */
export function refuse(status: number, code: string, detail: string, extra?: JsonObject): Refused {
  return { ok: false, problem: { status, code, detail, ...(extra && { extra }) } };
}

/** An estimate: the end of the active run cannot be foreseen. */
const RETRY_QUEUE_SECONDS = 15;

export function teamNotFound(): Refused {
  return refuse(404, "team_not_found", "There is no such team.");
}

/** The same request succeeds soon. */
export function temporarilyUnavailable(detail: string): Refused {
  const { problem } = refuse(503, "temporarily_unavailable", detail);
  return { ok: false, problem: { ...problem, retry_after: 1 } };
}

/** The team that had this id was deleted, and its tenant cannot be reached at the moment. */
export function stillBeingDeleted(): Refused {
  return temporarilyUnavailable("The team that had this id is still being deleted. Try again.");
}

/** The object of a user's or the tenant's memories cannot be reached. */
export function memoriesUndelivered(): Refused {
  const detail =
    "What runs of the team have learned is not stored in the memories of its users or its tenant yet, because they cannot be reached. Nothing was deleted. Try again.";
  const { problem } = refuse(503, MEMORIES_UNDELIVERED, detail);
  return { ok: false, problem: { ...problem, retry_after: RETRY_QUEUE_SECONDS } };
}

export function runNotFound(): Refused {
  return refuse(404, "run_not_found", "The team has no such run.");
}

export function runQueued(): Refused {
  return refuse(409, "run_queued", "The run is queued; this is possible once it has started.");
}

export function runEnded(status: RunStatus): Refused {
  return refuse(409, "run_ended", `The run is ${status}.`);
}

export function versionNotFound(): Refused {
  const detail = `The team has no such version. The latest ${MOST_VERSIONS} and those with a label are kept: GET .../versions lists them.`;
  return refuse(404, "version_not_found", detail);
}

export function stateTooLarge(): Refused {
  const detail = `The state is larger than ${MAX_STATE_DOCUMENT_BYTES} bytes, the most that one document may have: read it in parts (GET .../state/parts).`;
  return refuse(413, "state_too_large", detail, { limit: MAX_STATE_DOCUMENT_BYTES });
}

/** @param version the current one, which is none of those that the request names */
export function componentReplaced(version: number): Refused {
  const detail = `Nothing was changed, because the team's component was replaced meanwhile: it has the version ${version} now. Read the team again and repeat the change, or send If-Match: "${version}" to replace that version.`;
  return refuse(412, "component_replaced", detail, { component_version: version });
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

/** Turns an error about the input into a refusal. @throws any other error, because it is a fault of the service */
export function refuseInput(error: unknown): Refused {
  if (!(error instanceof TroupeError) || error.code === "internal") throw error;
  const { code, message, issues } = error;
  return { ok: false, problem: { status: 422, code, detail: message, errors: issues } };
}

/** The code of a deletion that would lose what runs have learned of users or for the tenant. */
export const MEMORIES_UNDELIVERED = "memories_undelivered";
