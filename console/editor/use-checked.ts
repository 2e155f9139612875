import { useEffect, useState } from "react";
import { ApiError, type NotedTeam } from "troupe/client";
import { useTroupe } from "troupe/react";
import type { Draft } from "./use-draft.ts";
import { type Mistake, mistakesIn } from "../fields/mistakes.tsx";
import { withStandIns } from "../component/value-path.ts";
import type { CatalogueTeam } from "../component/catalogue.ts";

export interface Checked {
  mistakes: readonly Mistake[];
  notes: NotedTeam["notes"];
}

const NOTHING: Checked = { mistakes: [], notes: [] };
/** Checked when typing pauses. */
const PAUSE_MS = 400;

/** The server's mistakes and notes on changes that are not saved yet, and on the last attempt to save them. */
export function useChecked({ component, stored, changed, refusal }: Draft): Checked {
  const client = useTroupe();
  const [checked, setChecked] = useState(NOTHING);
  const json = JSON.stringify(component);
  useEffect(() => {
    if (!changed) {
      setChecked(NOTHING);
      return undefined;
    }
    let current = true;
    const check = async (): Promise<void> => {
      // Only the team knows its stored secrets.
      const complete = withStandIns(component, stored) as CatalogueTeam;
      const found = await client.validate(complete).then(
        ({ notes }) => ({ mistakes: [], notes }),
        (error: unknown) => ({
          mistakes: error instanceof ApiError ? mistakesIn(error) : [],
          notes: [],
        }),
      );
      if (current) setChecked(found);
    };
    const timer = setTimeout(() => void check(), PAUSE_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [client, json, changed]);
  const refused = mistakesIn(refusal);
  return refused.length > 0 ? { ...checked, mistakes: refused } : checked;
}
