import { sentenceOf } from "../parts/error-words.ts";
import { useCallback, useEffect, useMemo, useState } from "react";
import type { TeamClient, TurnInfo } from "troupe/client";
import { Link } from "wouter";
import { useLoaded } from "../hooks/use-loaded.ts";
import { HeadingLevel } from "../parts/heading.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { placeInConversation } from "../team/place.ts";
import { visibleName } from "../text/foreign.ts";
import { Markdown } from "../text/markdown.tsx";
import { configOf, type UncheckedComponent } from "./component-json.ts";
import { answersIn, type LedgerRound, roundsOf } from "./ledger-rounds.ts";

interface LedgersProps {
  team: TeamClient;
  component: UncheckedComponent;
  /** The participants around the team of the ledgers; none for the outermost team. */
  within: readonly string[];
  /** The turns that were finished since the page is open. */
  live: readonly TurnInfo[];
}

const PAGE = 200;
const LATEST = Number.MAX_SAFE_INTEGER;

/** The two ledgers of an orchestrator, round by round, also while it works. */
export function Ledgers({ team, component, within, live }: LedgersProps) {
  const { rounds, error, loadEarlier } = useRounds(team, within, live);
  /** The key of the chosen round; undefined follows the latest one. */
  const [chosen, setChosen] = useState<string>();
  const found = rounds.findIndex(({ key }) => key === chosen);
  const place = found >= 0 ? found : rounds.length - 1;
  const round = rounds[place];
  const most = configOf(component)["max_stalls"];
  const step = (by: number): void => {
    const next = rounds[place + by];
    setChosen(next === rounds.at(-1) ? undefined : next?.key);
  };
  if (error !== undefined) return <p className="muted">{sentenceOf(error)}</p>;
  return (
    <div className="ledgers">
      {rounds.length > 0 && (
        <div className="ledger-steps" role="group" aria-label="Rounds of the ledgers">
          <IconButton
            icon="back"
            name="Earlier round"
            disabled={place <= 0 && loadEarlier === undefined}
            onClick={() => (place > 0 ? step(-1) : loadEarlier?.())}
          />
          <span aria-live="polite">
            Entry {place + 1} of {rounds.length}
            {chosen === undefined && <span className="muted">, the latest</span>}
          </span>
          <IconButton
            icon="right"
            name="Later round"
            disabled={place >= rounds.length - 1}
            onClick={() => step(1)}
          />
          {round && (
            <Link className="muted" href={placeInConversation(team.id, round.turn)}>
              turn {round.turn}
            </Link>
          )}
        </div>
      )}
      <section aria-label="Task ledger">
        <h2>Task ledger</h2>
        {round === undefined ? (
          <p className="muted">The orchestrator writes it when it gets a task.</p>
        ) : (
          <HeadingLevel value={4}>
            <h3>Facts</h3>
            <Markdown text={round.task.facts} />
            <h3>Plan</h3>
            <Markdown text={round.task.plan} />
          </HeadingLevel>
        )}
      </section>
      <section aria-label="Progress ledger">
        <h2>Progress ledger</h2>
        <Progress round={round} most={typeof most === "number" ? most : undefined} />
      </section>
    </div>
  );
}

function Progress({ round, most }: { round: LedgerRound | undefined; most: number | undefined }) {
  const { entry = null, rounds = 0, stalls = 0, next = "task" } = round?.progress ?? {};
  return (
    <>
      <dl className="facts">
        <div>
          <dt>Rounds</dt>
          <dd>{rounds}</dd>
        </div>
        <div>
          <dt>Stalls</dt>
          <dd>
            {stalls}
            {most !== undefined && ` of ${most} before the orchestrator makes a new plan`}
          </dd>
        </div>
        <div>
          <dt>Next</dt>
          <dd>{NEXT[next]}</dd>
        </div>
      </dl>
      {entry !== null && (
        <dl className="ledger-answers">
          {answersIn(entry).map(({ question, answer, reason }) => (
            <div key={question}>
              <dt>{question}</dt>
              <dd>
                <strong dir="auto">{visibleName(answer)}</strong>
                {reason !== "" && (
                  <p className="muted" dir="auto">
                    {visibleName(reason)}
                  </p>
                )}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}

const NEXT = {
  task: "Wait for a task",
  plan: "Write down facts and a plan",
  work: "Assess the progress and instruct the next speaker",
  replan: "Make a new plan",
} as const;

interface Rounds {
  rounds: readonly LedgerRound[];
  error: Error | undefined;
  /** Undefined when all are loaded. */
  loadEarlier: (() => void) | undefined;
}

/** The rounds in the last pages of turns, and in those that were finished since. */
function useRounds(team: TeamClient, within: readonly string[], live: readonly TurnInfo[]): Rounds {
  const [pages, setPages] = useState(1);
  const load = useCallback(async () => {
    const turns: TurnInfo[] = [];
    let before: number | null = LATEST;
    for (let page = 0; page < pages && before !== null; page++) {
      const { turns: earlier, next_before } = await team.turns({ before, limit: PAGE });
      turns.unshift(...earlier);
      before = next_before;
    }
    return { turns, hasEarlier: before !== null };
  }, [team, pages]);
  const { value, error, reload } = useLoaded(load);
  // The task ledger of a turn that was missed is unknown.
  const hasGap = (live[0]?.turn ?? 0) > (value?.turns.at(-1)?.turn ?? Infinity) + 1;
  useEffect(() => {
    if (hasGap) reload();
  }, [hasGap, reload]);
  const rounds = useMemo(() => {
    const loaded = value?.turns ?? [];
    const last = loaded.at(-1)?.turn ?? 0;
    return roundsOf([...loaded, ...live.filter(({ turn }) => turn > last)], within);
  }, [value, live, within]);
  const hasEarlier = value?.hasEarlier === true;
  const loadEarlier = useCallback(() => setPages((count) => count + 1), []);
  return { rounds, error, loadEarlier: hasEarlier ? loadEarlier : undefined };
}
