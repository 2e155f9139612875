import { isTenantId } from "../../auth/principal.ts";
import { ID } from "../../contract/constants.ts";
import { ValueError } from "../../core/errors.ts";
import { type CardKey, parseCardKey } from "./card/card-key.ts";

/** What the deployment has set for A2A. */
export interface A2ASettings {
  /** The team whose card is where agents look for one (`A2A_TEAM`). */
  team: { tenant: string; id: string } | undefined;
  /** What cards are signed with (`A2A_CARD_KEY`). */
  cardKey: CardKey | undefined;
}

/** @throws ValueError naming the setting that cannot be used */
export function a2aSettings({
  A2A_TEAM,
  A2A_CARD_KEY,
}: {
  A2A_TEAM?: string;
  A2A_CARD_KEY?: string;
}): A2ASettings {
  return { team: parseTeam(A2A_TEAM), cardKey: parseCardKey(A2A_CARD_KEY) };
}

function parseTeam(setting = ""): A2ASettings["team"] {
  if (setting === "") return undefined;
  const [tenant = "", id = "", ...rest] = setting.split("/");
  if (isTenantId(tenant) && ID.test(id) && rest.length === 0) return { tenant, id };
  throw new ValueError(
    `A2A_TEAM is ${JSON.stringify(setting)}: it must be tenant/team, for example acme/helpdesk`,
  );
}
