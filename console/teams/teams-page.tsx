import { type ReactNode, useDeferredValue, useEffect, useRef, useState } from "react";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { useTitle } from "../shell/title.ts";
import { NewTeam, type Way } from "./new-team.tsx";
import { TeamTable } from "./team-table.tsx";
import { Templates } from "./templates.tsx";
import { type TeamFilter, useTeamList } from "./use-team-list.ts";
import { useMay } from "../shell/access.tsx";

const STATUSES = ["idle", "running", "waiting", "paused"] as const;

interface TeamListProps {
  /** The heading of the list, with its level. */
  title: ReactNode;
  /** Shown above the list if there are teams. */
  children?: ReactNode;
}

/** The teams; on a new server, the templates that it offers. */
export function TeamList(props: TeamListProps) {
  const [creating, setCreating] = useState<Way>();
  return (
    <>
      <ListedTeams {...props} onCreate={setCreating} />
      {creating && <NewTeam way={creating} onClose={() => setCreating(undefined)} />}
    </>
  );
}

function ListedTeams({
  title,
  children,
  onCreate,
}: TeamListProps & { onCreate: (way: Way) => void }) {
  const [filter, setFilter] = useState<TeamFilter>({
    q: "",
    status: "",
    playground: false,
  });
  const list = useTeamList(useDeferredValue(filter));
  const search = useRef<HTMLInputElement>(null);
  const mayWrite = useMay("teams:write");
  useSlash(() => search.current?.focus());
  const filtered = filter.q !== "" || filter.status !== "" || filter.playground;
  const { value: teams, error } = list;

  if (teams === undefined && error !== undefined) {
    return <Failure error={error} onRetry={list.reload} />;
  }
  if (teams?.length === 0 && !filtered) {
    if (!mayWrite) {
      return (
        <div className="page first-page">
          <h1>No teams</h1>
          <p className="lead muted">Your key may read teams, and there are none.</p>
        </div>
      );
    }
    return (
      <div className="page first-page">
        <h1>Start a team</h1>
        <p className="lead muted">
          A team is one or more agents that work on a task together. Every template is ready to run.
        </p>
        <Templates />
        <p className="other-ways">
          <button className="button" type="button" onClick={() => onCreate("draw")}>
            Draw a team
          </button>
          <button className="button" type="button" onClick={() => onCreate("json")}>
            Paste component JSON
          </button>
        </p>
      </div>
    );
  }
  return (
    <div className="page wide-page">
      {children}
      <header className="page-head">
        {title}
        <div className="search">
          <Icon name="search" />
          <input
            ref={search}
            type="search"
            aria-label="Search teams by label or ID"
            aria-keyshortcuts="/"
            placeholder="Search  /"
            value={filter.q}
            onChange={(event) => setFilter({ ...filter, q: event.target.value })}
          />
        </div>
        <select
          aria-label="Status"
          value={filter.status}
          onChange={(event) =>
            setFilter({ ...filter, status: event.target.value as TeamFilter["status"] })
          }
        >
          <option value="">Any status</option>
          {STATUSES.map((status) => (
            <option key={status} value={status}>
              {status}
            </option>
          ))}
        </select>
        <label className="check">
          <input
            type="checkbox"
            checked={filter.playground}
            onChange={(event) => setFilter({ ...filter, playground: event.target.checked })}
          />
          Forks of the playground
        </label>
        {mayWrite && (
          <button className="button primary" type="button" onClick={() => onCreate("template")}>
            <Icon name="plus" />
            New team
          </button>
        )}
      </header>
      {teams === undefined ? (
        <p className="loading" role="status">
          Loading
        </p>
      ) : (
        <TeamTable teams={teams} />
      )}
      {teams?.length === 0 && <p className="muted none">No matching teams.</p>}
      {list.hasMore && (
        <button className="button" type="button" onClick={list.loadMore}>
          Show more
        </button>
      )}
    </div>
  );
}

export function TeamsPage() {
  useTitle("Teams");
  return <TeamList title={<h1>Teams</h1>} />;
}

/** The key `/`, unless the user is typing. */
function useSlash(action: () => void): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      const { target, key } = event;
      if (key !== "/" || event.ctrlKey || event.metaKey) return;
      if (target instanceof Element && target.closest("input, textarea, select, dialog")) return;
      event.preventDefault();
      action();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, [action]);
}
