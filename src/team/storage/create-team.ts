import type { ComponentModel } from "../../core/component/component-model.ts";
import type { CreateTeamInput } from "../../contract/gateways/team-gateway.ts";
import {
  idempotencyMismatch,
  ok,
  refuse,
  refuseInput,
  type Result,
} from "../../contract/result.ts";
import type { TeamInfo } from "../../contract/team.ts";
import { createTables, holdsTeam } from "./tables/schema.ts";
import type { Stores } from "./stores.ts";
import type { TeamRecord } from "./tables/team-store.ts";

/** The data of a new team's record. */
export type NewTeam = Omit<CreateTeamInput, "component"> & Pick<TeamRecord, "conversation">;

/**
 * Creates the team of an object that has none yet. A repeated request gets the same answer.
 *
 * @param seal gives the component as it is stored
 * @param tenant that lists it
 * @param makeRoom erases an unfinished fork
 */
export async function createTeam(
  stores: Stores,
  input: NewTeam,
  seal: () => Promise<ComponentModel>,
  tenant: string | undefined,
  makeRoom: () => Promise<void>,
): Promise<Result<null>> {
  let component: ComponentModel;
  try {
    component = await seal();
  } catch (error) {
    return refuseInput(error);
  }
  if (holdsTeam(stores.db)) return isRepeated(stores, input);
  await makeRoom();
  stores.db.transaction(() => {
    createTables(stores.db);
    stores.team.create(newRecord(input, tenant), component);
    stores.announcer.team();
  });
  return ok(null);
}

/** Ok when the same request created the present team; a refusal when the id is taken. */
export function isRepeated(
  { team }: Stores,
  { id, idempotency }: Pick<CreateTeamInput, "id" | "idempotency">,
): Result<null> {
  const made = team.record.idempotency;
  if (made === null || idempotency?.key !== made.key) {
    return refuse(409, "team_exists", `A team with the id "${id}" exists already.`);
  }
  return idempotency.hash === made.hash ? ok(null) : idempotencyMismatch();
}

/** The record of a new team. */
export function newRecord(
  input: NewTeam,
  tenant: string | undefined,
  forked_from: TeamInfo["forked_from"] = null,
): TeamRecord {
  const now = new Date().toISOString();
  const { id, label, metadata, by, idempotency = null, expires_in, conversation, user } = input;
  return {
    id,
    ...(tenant !== undefined && { tenant }),
    session: crypto.randomUUID(),
    label,
    metadata,
    component_version: 1,
    ...(by !== undefined && { by }),
    usage: { prompt_tokens: 0, completion_tokens: 0 },
    cost: null,
    epoch: 0,
    idempotency,
    forked_from,
    ...(expires_in !== undefined && { expires_in }),
    ...(conversation && { conversation }),
    ...(user !== undefined && { user }),
    created_at: now,
    updated_at: now,
  };
}
