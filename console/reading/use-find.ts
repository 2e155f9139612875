import { useEffect, useState } from "react";
import type { FoundMessages, TeamClient } from "troupe/client";

type Hit = FoundMessages["messages"][number];

/** The messages of a whole conversation that contain a text, as far as it was searched. */
export interface Search {
  /** The latest first. */
  hits: readonly Hit[];
  /** False while earlier messages are searched. */
  complete: boolean;
  error: Error | undefined;
}

const TYPING_MS = 250;
const PAGE = 200;
/** More places than anybody looks at. */
const MOST = 1_000;
const NOTHING: Search = { hits: [], complete: true, error: undefined };

/** Searches the conversation on the server, from its end, once typing pauses. */
export function useFind(team: TeamClient, text: string): Search {
  const [search, setSearch] = useState(NOTHING);
  useEffect(() => {
    setSearch(text === "" ? NOTHING : { ...NOTHING, complete: false });
    if (text === "") return undefined;
    let current = true;
    const find = async (): Promise<void> => {
      const hits: Hit[] = [];
      let before: number | undefined;
      do {
        const found = await team.findMessages({
          q: text,
          limit: PAGE,
          ...(before !== undefined && { before }),
        });
        if (!current) return;
        hits.push(...found.messages);
        before = found.searched_to ?? undefined;
        const complete = before === undefined || hits.length >= MOST;
        setSearch({ hits: [...hits], complete, error: undefined });
      } while (before !== undefined && hits.length < MOST);
    };
    const timer = setTimeout(() => {
      find().catch((error: unknown) => {
        if (current) setSearch((last) => ({ ...last, complete: true, error: error as Error }));
      });
    }, TYPING_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [team, text]);
  return search;
}
