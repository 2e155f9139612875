import { toBase64Url } from "../../../../core/base64.ts";
import type { RunInfo } from "../../../../contract/run.ts";

// The id of a conversation says whose it is, so that no request has to ask its team: it is a random half, and a hash of that
// half with the caller and the agent. Another caller would have to find a half with the same hash.

const CONVERSATION = /^a2a-([A-Za-z0-9_-]{22})([A-Za-z0-9_-]{22})$/;
/** Ids of teams and runs have no dot. */
const TASK = /^(?:([A-Za-z0-9_-]{1,64})\.)?([A-Za-z0-9_-]{1,64})$/;
const HALF_BYTES = 16;

/** The caller and the agent of a conversation. */
export interface Parties {
  tenant: string;
  agent: string;
  owner: string;
}

/** The id of the conversation that a message without a context begins: the same message again finds it. */
export async function conversationId(parties: Parties, message: string): Promise<string> {
  const start = await half(["start", parties, message]);
  return `a2a-${start}${await half(["owner", parties, start])}`;
}

/** True for the id of a conversation between them. */
export async function isConversationOf(parties: Parties, id: string): Promise<boolean> {
  const [, start, proof] = CONVERSATION.exec(id) ?? [];
  return start !== undefined && proof === (await half(["owner", parties, start]));
}

/** A task of a conversation names it; that of an agent's own team has the run's id alone. */
export function taskId({ id, team_id }: Pick<RunInfo, "id" | "team_id">): string {
  return CONVERSATION.test(team_id) ? `${team_id}.${id}` : id;
}

/** The place of a task; undefined for an invalid id. @property context undefined for the agent's own team */
export function parseTaskId(id: string): { context: string | undefined; run: string } | undefined {
  const [, context, run] = TASK.exec(id) ?? [];
  return run === undefined ? undefined : { context, run };
}

async function half([use, { tenant, agent, owner }, text]: [
  use: string,
  parties: Parties,
  text: string,
]): Promise<string> {
  const named = new TextEncoder().encode(JSON.stringify([use, tenant, agent, owner, text]));
  const digest = await crypto.subtle.digest("SHA-256", named);
  return toBase64Url(new Uint8Array(digest).subarray(0, HALF_BYTES));
}
