import { beginningOf, type ForkTeam, type Message, type TeamClient } from "troupe/client";

const PAGE = 200;

/**
 * The turn of a message. Messages of the history contain it; messages from the stream are looked up from the end of the
 * thread.
 *
 * @throws Error when the thread has no such message
 */
async function turnOf(team: TeamClient, message: Message): Promise<number> {
  if ("turn" in message) return message.turn as number;
  let before: number | null = Number.MAX_SAFE_INTEGER;
  while (before !== null) {
    const page = await team.messages({ before, limit: PAGE });
    const found = page.messages.find(({ id }) => id === message.id);
    if (found !== undefined) return found.turn;
    before = page.next_before;
  }
  throw new Error("The message is no longer in the conversation.");
}

const FORK = "Fork of ";
const LONGEST_LABEL = 200;

/** A fork that carries the name of the team it is from. */
export async function namedFork(
  team: TeamClient,
  options: Omit<ForkTeam, "label"> = {},
): Promise<TeamClient> {
  const { id, label } = await team.get();
  const name = label ?? id;
  const own = name.startsWith(FORK) ? name : `${FORK}${name}`;
  return team.fork({ ...options, label: beginningOf(own, LONGEST_LABEL) });
}

/** A new team whose conversation ends with the turn of a message. */
export async function forkAfter(team: TeamClient, message: Message): Promise<TeamClient> {
  return namedFork(team, { turn: await turnOf(team, message) });
}

/** A new team whose conversation ends before the turn of a message. */
export async function forkBefore(team: TeamClient, message: Message): Promise<TeamClient> {
  return namedFork(team, { turn: Math.max(0, (await turnOf(team, message)) - 1) });
}

/** A new team in whose conversation another message replaces this one. */
export async function forkWith(
  team: TeamClient,
  message: Message,
  text: string,
): Promise<TeamClient> {
  const fork = await forkBefore(team, message);
  await fork.start(text);
  return fork;
}
