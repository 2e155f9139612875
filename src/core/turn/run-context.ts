import type { JsonObject } from "../json.ts";

/**
 * The caller and the purpose of a run. It is recorded with the run: repeated turns, inner teams and agents as tools see
 * the same. No prompt has it unless an agent or a tool puts it there.
 */
export interface RunContext {
  readonly id: string;
  /** The id of the team; `local` in memory, unless the run has the option `team`. */
  readonly team: string;
  /** `local` for runs without a tenant: in memory, or on a server without keys. */
  readonly tenant: string;
  /** For whom the run is; missing for no user. */
  readonly user?: string;
  /** The name or subject of the credential that started the run; missing for one without a name. */
  readonly subject?: string;
  readonly metadata: Readonly<JsonObject>;
}

/** The given part of a run's context; missing fields count as `local`. */
export interface GivenRunContext {
  id: string;
  team?: string | undefined;
  tenant?: string | null | undefined;
  user?: string | undefined;
  subject?: string | undefined;
  metadata?: JsonObject | undefined;
}

/** A frozen copy, because what a tool changed would be lost when its turn runs again. */
export function runContext(given: GivenRunContext): RunContext {
  const { id, team, tenant, user, subject, metadata } = given;
  return Object.freeze({
    id,
    team: team ?? "local",
    tenant: tenant ?? "local",
    ...(user !== undefined && { user }),
    ...(subject !== undefined && { subject }),
    metadata: frozen(structuredClone(metadata ?? {})),
  });
}

function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) frozen(item);
    Object.freeze(value);
  }
  return value;
}
