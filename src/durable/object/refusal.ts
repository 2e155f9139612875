import { TroupeError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Problem, Result } from "../../contract/gateway.ts";

export function ok<T>(value: T): Result<T> {
  return { ok: true, value };
}

/** A refusal that was foreseen. */
export function refuse(
  status: number,
  code: string,
  detail: string,
  extra?: JsonObject,
): { ok: false; problem: Problem } {
  return { ok: false, problem: { status, code, detail, ...(extra && { extra }) } };
}

export function teamNotFound(): ReturnType<typeof refuse> {
  return refuse(404, "team_not_found", "There is no such team.");
}

export function runNotFound(): ReturnType<typeof refuse> {
  return refuse(404, "run_not_found", "The team has no such run.");
}

export function teamBusy(run: string): ReturnType<typeof refuse> {
  return refuse(409, "team_busy", "The team has an active run.", { run_id: run });
}

export function idempotencyMismatch(): ReturnType<typeof refuse> {
  return refuse(
    422,
    "idempotency_mismatch",
    "The Idempotency-Key was used before with another body.",
  );
}

/** Bad input as a refusal; anything else is our own fault and thrown on. */
export function refuseInput(error: unknown): { ok: false; problem: Problem } {
  if (!(error instanceof TroupeError) || error.code === "internal") throw error;
  const { code, message, issues } = error;
  return { ok: false, problem: { status: 422, code, detail: message, errors: issues } };
}
