import { useEffect, useMemo, useState } from "react";
import type { Message, TeamClient, TurnInfo } from "troupe/client";
import type { TeamView } from "troupe/react";
import { PAGE_SIZE } from "./page-size.ts";

/** A cursor behind all turns. */
const LATEST = Number.MAX_SAFE_INTEGER;

/** The finished turns of the loaded messages, by the ids of the messages. They are loaded in pages, as the messages are. */
export function useTurns(
  team: TeamClient,
  { messages, turns: live, connected }: Pick<TeamView, "messages" | "turns" | "connected">,
): ReadonlyMap<string, TurnInfo> {
  const [loaded, setLoaded] = useState<readonly TurnInfo[]>([]);
  const earliest = turnOf(messages[0]);
  const first = loaded[0]?.turn;
  const last = loaded.at(-1)?.turn;
  useEffect(() => {
    if (!connected) return undefined;
    const controller = new AbortController();
    const query = last === undefined ? { before: LATEST } : { after: last };
    load(team, { ...query, limit: PAGE_SIZE }, controller.signal, setLoaded).catch(() => undefined);
    return () => controller.abort();
    // With each connection, because turns may have been missed; not with each turn.
  }, [team, connected]);
  useEffect(() => {
    if (first === undefined || earliest === undefined || earliest >= first) return undefined;
    const controller = new AbortController();
    load(team, { before: first, limit: PAGE_SIZE }, controller.signal, setLoaded).catch(
      () => undefined,
    );
    return () => controller.abort();
  }, [team, first, earliest]);
  return useMemo(() => {
    const byMessage = new Map<string, TurnInfo>();
    for (const turn of [...loaded, ...live]) {
      for (const id of turn.message_ids) byMessage.set(id, turn);
    }
    return byMessage;
  }, [loaded, live]);
}

/** Without turns, cards have the tokens of their messages. They are loaded again with the next page or connection. */
async function load(
  team: TeamClient,
  query: { before?: number; after?: number; limit: number },
  signal: AbortSignal,
  add: (change: (loaded: readonly TurnInfo[]) => readonly TurnInfo[]) => void,
): Promise<void> {
  const { turns } = await team.turns(query);
  if (!signal.aborted) add((loaded) => inOrder([...loaded, ...turns]));
}

function inOrder(turns: readonly TurnInfo[]): TurnInfo[] {
  const byTurn = new Map(turns.map((turn) => [turn.turn, turn]));
  return [...byTurn.values()].toSorted((a, b) => a.turn - b.turn);
}

/** Only messages of the history have a turn. */
function turnOf(message: Message | undefined): number | undefined {
  return message !== undefined && "turn" in message ? Number(message.turn) : undefined;
}
