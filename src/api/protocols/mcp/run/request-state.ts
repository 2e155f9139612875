import type { HumanRequest } from "../../../../contract/run.ts";
import { sha256Hex } from "../../../../core/hash.ts";
import { isConversation } from "../session/own-conversations.ts";

/**
 * The team of a conversation with a template, a run, when its newest question was asked, and a check value. Earlier versions had
 * the run alone.
 */
const STATE =
  /^(?:([A-Za-z0-9_-]{1,64})\/)?([A-Za-z0-9_-]{1,64})(?:\.(\d{1,16})\.([0-9a-f]{32}))?$/;

/**
 * The state with which a client makes a call again. It differs in each round of questions, and a client may see all of it: whoever
 * may read the run may continue with it.
 */
export async function requestState(
  { team_id, id }: { team_id: string; id: string },
  questions: readonly HumanRequest[],
): Promise<string> {
  const askedAt = Math.max(...questions.map(({ created_at }) => Date.parse(created_at)));
  const team = isConversation(team_id) ? `${team_id}/` : "";
  return `${team}${id}.${askedAt}.${await check(team_id, id, String(askedAt))}`;
}

/** The run that a state names; undefined for one that is not of this team, or was changed. */
export async function runOfState(team: string, state: string): Promise<string | undefined> {
  const [, named = team, run, askedAt, given] = STATE.exec(state) ?? [];
  if (named !== team) return undefined;
  if (run === undefined || askedAt === undefined) return run;
  return given === (await check(team, run, askedAt)) ? run : undefined;
}

/** The team of the conversation that a state continues; undefined for a state that names none. */
export function teamOfState(state: string): string | undefined {
  const [, team] = STATE.exec(state) ?? [];
  return team;
}

async function check(team: string, run: string, askedAt: string): Promise<string> {
  return (await sha256Hex(`mcp-state ${team} ${run} ${askedAt}`)).slice(0, 32);
}
