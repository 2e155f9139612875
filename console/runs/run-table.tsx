import { reasonOf } from "./failure-words.ts";
import type { ListedRun } from "troupe/client";
import { Link } from "wouter";
import { Icon } from "../parts/icon.tsx";
import { Name } from "../parts/name.tsx";
import { costOf, shortNumber } from "../parts/numbers.ts";
import { Status } from "../parts/status.tsx";
import { Ago, Elapsed } from "../parts/time.tsx";
import { visibleName } from "../text/foreign.ts";
import { preview } from "../text/preview.ts";

interface RunTableProps {
  runs: readonly ListedRun[];
  /** The names of their teams, by id. */
  names: ReadonlyMap<string, string>;
  /** The value of `order` in the address. */
  order: string;
  onOrder: (order: string) => void;
  /** The keys of the selected runs; undefined if the user may not change runs. */
  selected: ReadonlySet<string> | undefined;
  onSelect: (selected: ReadonlySet<string>) => void;
}

export function RunTable(props: RunTableProps) {
  const { runs, names, order, onOrder, selected, onSelect } = props;
  const select = (keys: readonly string[], on: boolean): void => {
    const next = new Set(selected);
    for (const key of keys) {
      if (on) next.add(key);
      else next.delete(key);
    }
    onSelect(next);
  };
  return (
    <table className="table teams runs">
      <thead>
        <tr>
          {selected && (
            <th scope="col" className="select">
              <input
                type="checkbox"
                aria-label="Select all"
                checked={runs.every((run) => selected.has(keyOf(run)))}
                onChange={({ target }) => select(runs.map(keyOf), target.checked)}
              />
            </th>
          )}
          <th scope="col">Run</th>
          <th scope="col">Task and answer</th>
          <th scope="col">Status</th>
          <th scope="col">Model</th>
          <th scope="col" className="number">
            Tokens
          </th>
          <Sorted by="cost" name="Cost" {...{ order, onOrder }} />
          <Sorted by="seconds" name="Duration" {...{ order, onOrder }} />
          <Sorted by="" name="Created" {...{ order, onOrder }} />
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <tr key={keyOf(run)}>
            {selected && (
              <td className="select">
                <input
                  type="checkbox"
                  aria-label={`Select ${run.id.slice(0, 8)}`}
                  checked={selected.has(keyOf(run))}
                  onChange={({ target }) => select([keyOf(run)], target.checked)}
                />
              </td>
            )}
            <td className="of-run">
              <Link className="whole-row" href={`/teams/${run.team_id}/runs/${run.id}`}>
                <Name name={names.get(run.team_id) ?? run.team_id} />
              </Link>
              <span className="id">{run.id.slice(0, 8)}</span>
            </td>
            <td className="exchange">
              <Exchange run={run} />
            </td>
            <td className="of-status">
              <Status status={run.status} />
            </td>
            <td className="muted of-model">
              {Object.keys(run.models).map((model) => (
                <span key={model} className="model-use">
                  <Name name={model} />
                </span>
              ))}
            </td>
            <td className="number muted of-tokens">
              {shortNumber(run.usage.prompt_tokens + run.usage.completion_tokens)}
            </td>
            <td className="number muted of-cost">{run.cost !== null && costOf(run.cost)}</td>
            <td className="number muted of-duration">
              {run.started_at && <Elapsed from={run.started_at} to={run.ended_at} />}
            </td>
            <td className="number muted of-time">
              <Ago time={run.created_at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Names a run among those of all teams. */
export function keyOf({ team_id, id }: Pick<ListedRun, "team_id" | "id">): string {
  return `${team_id} ${id}`;
}

interface SortedProps {
  /** The value of `order` for this column. */
  by: string;
  name: string;
  order: string;
  onOrder: (order: string) => void;
}

/** The head of a column by which the runs can be sorted, the highest first. */
function Sorted({ by, name, order, onOrder }: SortedProps) {
  const isSorted = order === by || (by === "" && order === "created_at");
  return (
    <th scope="col" className="number" aria-sort={isSorted ? "descending" : "none"}>
      <button type="button" className="sort" onClick={() => onOrder(by)}>
        {name}
        {isSorted && <Icon name="down" />}
      </button>
    </th>
  );
}

/** The task, and below it the outcome. */
function Exchange({ run: { task, answer, error, stop_reason } }: { run: ListedRun }) {
  return (
    <>
      <span className="one-line" title={task === null ? undefined : preview(task)}>
        {task === null ? <span className="muted">Continues the conversation</span> : preview(task)}
      </span>
      {error ? (
        <span className="one-line bad" title={reasonOf(error)}>
          {reasonOf(error)}
        </span>
      ) : answer ? (
        <span className="one-line muted" title={preview(answer.text)}>
          <Name name={answer.source} />: {preview(answer.text)}
        </span>
      ) : (
        stop_reason && <span className="one-line muted">Ended: {visibleName(stop_reason)}</span>
      )}
    </>
  );
}
