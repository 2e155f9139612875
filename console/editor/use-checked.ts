import { useEffect, useMemo, useState } from "react";
import { ApiError, type NotedTeam } from "troupe/client";
import { useTroupe } from "troupe/react";
import type { Draft } from "./use-draft.ts";
import { mistakesIn } from "../inputs/mistakes.tsx";
import { teamsIn } from "../component/field-address.ts";
import { graphFlaws } from "../component/graph-flaws.ts";
import { explained, type Mistake } from "../component/repairs.ts";
import { stepsOf } from "../parts/json-path.ts";
import { withStandIns } from "../component/value-path.ts";
import type { CatalogueTeam } from "../component/catalogue.ts";

export interface Checked {
  mistakes: readonly Mistake[];
  notes: readonly Mistake[];
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
        ({ notes }) => ({ mistakes: [], notes: notes.map(noted) }),
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
  const flaws = useMemo(
    () => (changed ? teamsIn(component).flatMap((team) => graphFlaws(component, team)) : []),
    [json, changed],
  );
  const refused = mistakesIn(refusal);
  const mistakes = refused.length > 0 ? refused : checked.mistakes;
  return { ...checked, mistakes: flaws.length === 0 ? mistakes : [...flaws, ...besides(mistakes)] };
}

/** The server's mistakes about other things than the order of agents, whose flaws have sentences and repairs of their own. */
function besides(mistakes: readonly Mistake[]): Mistake[] {
  return mistakes.filter(
    ({ path, message }) =>
      !(
        path.includes("graph") ||
        (path.at(-1) === "termination_condition" && /cycle/.test(message))
      ),
  );
}

function noted({ path, message }: NotedTeam["notes"][number]): Mistake {
  return explained({ path: stepsOf(path), message });
}
