import type { ListedRun } from "troupe/client";
import { SearchField } from "../parts/search-field.tsx";
import { STATUS_WORDS } from "../parts/status.tsx";
import { visibleName } from "../text/foreign.ts";
import type { FilterName, RunFilter } from "./filter.ts";
import { TeamField } from "./team-field.tsx";

const STATUSES = ["queued", "running", "waiting", "paused", "completed", "cancelled", "failed"];

interface RunFiltersProps {
  filter: RunFilter;
  onChange: (name: FilterName, value: string) => void;
  /** The runs on the page, whose models and errors can be chosen. */
  runs: readonly ListedRun[];
  /** The names of their teams, by id. */
  names: ReadonlyMap<string, string>;
  /** True if the page shows the runs of one team only. */
  ofOneTeam: boolean;
}

/** The fields above the table of runs. */
export function RunFilters({ filter, onChange, runs, names, ofOneTeam }: RunFiltersProps) {
  const models = runs.flatMap((run) => Object.keys(run.models));
  const errors = runs.flatMap(({ error }) => (error === null ? [] : [error.type]));
  return (
    <div className="filters" role="group" aria-label="Filters">
      <SearchField
        label="Search tasks, answers and errors"
        placeholder="Search tasks and answers"
        value={filter.q}
        onChange={(value) => onChange("q", value)}
      />
      {!ofOneTeam && (
        <TeamField
          value={filter.team}
          name={names.get(filter.team)}
          onChange={(value) => onChange("team", value)}
        />
      )}
      <Choice
        name="Status"
        any="Any status"
        value={filter.status}
        options={new Map(STATUSES.map((status) => [status, STATUS_WORDS[status] ?? status]))}
        onChange={(value) => onChange("status", value)}
      />
      <Choice
        name="Model"
        any="Any model"
        value={filter.model}
        options={named(models)}
        onChange={(value) => onChange("model", value)}
      />
      <Choice
        name="Error"
        any="Any error"
        value={filter.error}
        options={named(errors)}
        onChange={(value) => onChange("error", value)}
      />
      <label className="inline-field">
        <span className="muted">Ended</span>
        <input
          type="date"
          value={filter.from.slice(0, 10)}
          max={filter.to.slice(0, 10)}
          onChange={({ target }) => onChange("from", target.value)}
        />
      </label>
      <label className="inline-field">
        <span className="muted">to</span>
        <input
          type="date"
          value={filter.to.slice(0, 10)}
          min={filter.from.slice(0, 10)}
          onChange={({ target }) => onChange("to", target.value)}
        />
        <span className="muted">UTC</span>
      </label>
      <label className="inline-field">
        <span className="muted">Min. cost</span>
        <input
          className="amount"
          type="number"
          min={0}
          step="any"
          value={filter.min_cost}
          onChange={({ target }) => onChange("min_cost", target.value)}
        />
      </label>
    </div>
  );
}

interface ChoiceProps {
  name: string;
  any: string;
  value: string;
  /** Names by value. */
  options: ReadonlyMap<string, string>;
  onChange: (value: string) => void;
}

function Choice({ name, any, value, options, onChange }: ChoiceProps) {
  const all = value === "" || options.has(value) ? options : new Map([[value, value], ...options]);
  return (
    <select
      aria-label={name}
      className="team-choice"
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">{any}</option>
      {[...all].map(([one, text]) => (
        <option key={one} value={one}>
          {visibleName(text)}
        </option>
      ))}
    </select>
  );
}

function named(values: readonly string[]): Map<string, string> {
  return new Map(values.toSorted().map((value) => [value, value]));
}
