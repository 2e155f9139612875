import { isTenantId } from "../../../auth/principal.ts";
import { ID } from "../../../../contract/constants.ts";
import { ValueError } from "../../../../core/errors.ts";
import { type CardKey, parseCardKey } from "./card-key.ts";

/** 30 days. */
const DEFAULT_IDLE_SECONDS = 30 * 86_400;
/** Ten years. */
const LONGEST_IDLE_SECONDS = 3650 * 86_400;

export interface A2ASettings {
  /** The team whose card is where agents look for one (`A2A_TEAM`). */
  team: { tenant: string; id: string } | undefined;
  /** Seconds without a task after which a conversation is erased (`A2A_IDLE_SECONDS`). */
  idleSeconds: number;
  /** The key that signs cards (`A2A_CARD_KEY`). */
  cardKey: CardKey | undefined;
}

/** @throws ValueError naming the setting that cannot be used */
export function a2aSettings({
  A2A_TEAM,
  A2A_CARD_KEY,
  A2A_IDLE_SECONDS,
}: {
  A2A_TEAM?: string;
  A2A_CARD_KEY?: string;
  A2A_IDLE_SECONDS?: string;
}): A2ASettings {
  return {
    team: parseTeam(A2A_TEAM),
    idleSeconds: parseIdle(A2A_IDLE_SECONDS),
    cardKey: parseCardKey(A2A_CARD_KEY),
  };
}

function parseIdle(setting = ""): number {
  if (setting === "") return DEFAULT_IDLE_SECONDS;
  const seconds = Number(setting);
  if (Number.isSafeInteger(seconds) && seconds >= 1 && seconds <= LONGEST_IDLE_SECONDS)
    return seconds;
  throw new ValueError(
    `A2A_IDLE_SECONDS is ${JSON.stringify(setting)}: it must be a whole number of seconds, 1 to ${LONGEST_IDLE_SECONDS}`,
  );
}

function parseTeam(setting = ""): A2ASettings["team"] {
  if (setting === "") return undefined;
  const [tenant = "", id = "", ...rest] = setting.split("/");
  if (isTenantId(tenant) && ID.test(id) && rest.length === 0) return { tenant, id };
  throw new ValueError(
    `A2A_TEAM is ${JSON.stringify(setting)}: it must be tenant/team, for example acme/helpdesk`,
  );
}
