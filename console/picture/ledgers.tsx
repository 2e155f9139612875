import { useCallback, useEffect } from "react";
import type { TeamClient } from "troupe/client";
import { useLoaded } from "../hooks/use-loaded.ts";
import { Markdown } from "../text/markdown.tsx";
import { configOf, fieldsOf, type Part, textOf } from "./component-json.ts";

interface LedgersProps {
  team: TeamClient;
  component: Part;
  /** Of the last run: the ledgers are read again when it changes. */
  turns: number | undefined;
}

/** The two ledgers of an orchestrator, as the team's state has them after its last turn. */
export function Ledgers({ team, component, turns }: LedgersProps) {
  const load = useCallback(async () => ledgersIn(await team.saveState()), [team]);
  const { value, error, reload } = useLoaded(load);
  useEffect(() => reload(), [turns, reload]);
  const most = configOf(component)["max_stalls"];
  if (error !== undefined) return <p className="muted">{error.message}</p>;
  return (
    <div className="ledgers">
      <section aria-label="Task ledger">
        <h2>Task ledger</h2>
        {value === undefined || value.facts + value.plan === "" ? (
          <p className="muted">It is written when the orchestrator gets a task.</p>
        ) : (
          <>
            <h3>Facts</h3>
            <Markdown text={value.facts} />
            <h3>Plan</h3>
            <Markdown text={value.plan} />
          </>
        )}
      </section>
      <section aria-label="Progress ledger">
        <h2>Progress ledger</h2>
        <dl className="facts">
          <div>
            <dt>Rounds</dt>
            <dd>{value?.rounds ?? 0}</dd>
          </div>
          <div>
            <dt>Stalls</dt>
            <dd>
              {value?.stalls ?? 0}
              {typeof most === "number" && ` of ${most} until there is another plan`}
            </dd>
          </div>
          <div>
            <dt>Next</dt>
            <dd>{NEXT[value?.next ?? ""] ?? "Waits for a task"}</dd>
          </div>
        </dl>
      </section>
    </div>
  );
}

const NEXT: Readonly<Record<string, string>> = {
  plan: "Facts and plan",
  work: "Progress is judged, and somebody is told what to do",
  replan: "Another plan",
};

interface Written {
  facts: string;
  plan: string;
  rounds: number;
  stalls: number;
  next: string;
}

function ledgersIn(state: unknown): Written {
  const states = fieldsOf(fieldsOf(state)["agent_states"]);
  const own = fieldsOf(
    Object.values(states).find((part) => fieldsOf(part)["type"] === "MagenticOneOrchestratorState"),
  );
  return {
    facts: textOf(own["facts"]),
    plan: textOf(own["plan"]),
    rounds: Number(own["n_rounds"]) || 0,
    stalls: Number(own["n_stalls"]) || 0,
    next: textOf(fieldsOf(own["troupe"])["next"]),
  };
}
