import type { JsonObject } from "../core/json.ts";
import type { Problem } from "./problem.ts";

/** What a call across the gateway returns: a value, or the problem that the client is answered with. */
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
