import { visibleName } from "../text/foreign.ts";
import { counted } from "../parts/numbers.ts";
import { useCallback, useMemo, useState } from "react";
import type { Memory, WhoAmI } from "troupe/client";
import { useTroupe } from "troupe/react";
import { useSearchParams } from "wouter";
import { Confirm } from "../dialogs/confirm.tsx";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { useList } from "../hooks/use-list.ts";
import { useTeamLabels } from "../hooks/use-team-labels.ts";
import { useMay } from "../shell/access.tsx";
import { useGone, useNotices } from "../shell/notices.tsx";
import { MemoryEntry } from "./memory-entry.tsx";
import { MemoryForm } from "./memory-form.tsx";
import { MemoryHead } from "./memory-head.tsx";
import { PlaceFields } from "./place-fields.tsx";
import { type MemoryAddress, placeIn, queryOf } from "./memory-address.ts";

const PAGE = 50;
/** Runs learn. */
const KINDS = ["run"] as const;
const NO_TEAMS: readonly string[] = [];

/** The memories of the tenant, a user or a team, as the page's address names it. */
export function MemoryPage({ whoami }: { whoami: WhoAmI }) {
  const [parameters, setParameters] = useSearchParams();
  const address = placeIn(parameters, whoami.user);
  const q = parameters.get("q") ?? "";
  const { scope, team } = address;
  const teamLabels = useTeamLabels(useMemo(() => (team === "" ? NO_TEAMS : [team]), [team]));
  const change = (changes: Readonly<Record<string, string>>): void =>
    setParameters(
      (last) => {
        const next = new URLSearchParams(last);
        for (const [name, value] of Object.entries(changes)) {
          if (value === "") next.delete(name);
          else next.set(name, value);
        }
        return next;
      },
      { replace: true },
    );
  return (
    <div className="page">
      <MemoryHead current="known" />
      <PlaceFields
        place={address}
        q={q}
        ownUser={whoami.user !== null}
        onChange={change}
        {...teamLabels}
      />
      {queryOf(address) === undefined ? (
        <p className="muted none">{scope === "team" ? "Choose a team." : "Enter a user ID."}</p>
      ) : (
        <Known
          key={JSON.stringify(address)}
          place={address}
          q={q.trim()}
          labels={teamLabels.labels}
        />
      )}
    </div>
  );
}

interface KnownProps {
  place: MemoryAddress;
  q: string;
  labels: ReadonlyMap<string, string>;
}

type Doing =
  | { kind: "new" }
  | { kind: "correct"; memory: Memory }
  | { kind: "delete run"; source: NonNullable<Memory["source"]> }
  | { kind: "erase" };

function Known({ place, q, labels }: KnownProps) {
  const client = useTroupe();
  const { scope, team, user } = place;
  const load = useCallback(
    async (cursor: string | undefined) => {
      const query = { ...queryOf({ scope, team, user }), limit: PAGE, cursor };
      const list = await client.memories.list({ ...query, ...(q !== "" && { q }) });
      return { items: list.memories, next: list.next_cursor, note: list.note };
    },
    [client, scope, team, user, q],
  );
  const { value, note, error, reload, hasMore, loadMore } = useList(load, KINDS);
  const [doing, setDoing] = useState<Doing>();
  const { postpone, tell } = useNotices();
  const gone = useGone();
  const mayWrite = useMay("runs:write");
  const close = (): void => setDoing(undefined);

  const forget = ({ id }: Memory): void =>
    postpone({
      key: keyOf(id),
      text: "The memory was deleted.",
      action: () => client.memories.forget(id),
    });
  const erase = async (query: { run?: string; team?: string; user?: string }): Promise<void> => {
    const { forgotten } = await client.memories.erase(query);
    tell(
      forgotten === null
        ? "All memories were deleted."
        : `${counted(forgotten, "memory was", "memories were")} deleted.`,
    );
    reload();
  };

  if (error !== undefined) return <Failure error={error} onRetry={reload} />;
  if (value === undefined) {
    return (
      <p className="loading" role="status">
        Loading
      </p>
    );
  }
  const memories = value.filter(({ id }) => !gone.has(keyOf(id)));
  const mayErase = mayWrite && scope === "user" && memories.length > 0;
  return (
    <>
      {mayWrite && (
        <div className="memory-actions">
          <button
            className="button primary"
            type="button"
            onClick={() => setDoing({ kind: "new" })}
          >
            <Icon name="plus" />
            New memory
          </button>
          {mayErase && (
            <button className="button" type="button" onClick={() => setDoing({ kind: "erase" })}>
              <Icon name="bin" />
              Delete this user's memories
            </button>
          )}
        </div>
      )}
      {note !== undefined && <p className="muted">{note}</p>}
      {memories.length === 0 && (
        <p className="muted none">
          {q === ""
            ? "No memories yet. Agents with a VectorMemory learn from their runs."
            : "No matching memories."}
        </p>
      )}
      {memories.length > 0 && (
        <ul className="items" aria-label="Memories">
          {memories.map((memory) => (
            <MemoryEntry
              key={memory.id}
              memory={memory}
              labels={labels}
              actions={
                mayWrite
                  ? {
                      onCorrect: () => setDoing({ kind: "correct", memory }),
                      onForget: () => forget(memory),
                      onForgetRun: () => {
                        const { source } = memory;
                        if (source !== null) setDoing({ kind: "delete run", source });
                      },
                    }
                  : undefined
              }
            />
          ))}
        </ul>
      )}
      {hasMore && (
        <button className="button" type="button" onClick={loadMore}>
          <Icon name="down" />
          Show more
        </button>
      )}
      {(doing?.kind === "new" || doing?.kind === "correct") && (
        <MemoryForm
          memory={doing.kind === "correct" ? doing.memory : undefined}
          place={queryOf(place) ?? {}}
          onClose={close}
          onSaved={reload}
        />
      )}
      {doing?.kind === "delete run" && (
        <Confirm
          title={`Delete what run ${doing.source.run.slice(0, 8)} learned?`}
          text="All memories from this run are deleted: those of its team, its user and the tenant. This can't be undone."
          button="Delete"
          action={() =>
            erase({
              run: doing.source.run,
              team: doing.source.team,
              ...(scope === "user" && { user }),
            })
          }
          onClose={close}
        />
      )}
      {doing?.kind === "erase" && (
        <Confirm
          title={`Delete all memories of ${visibleName(user)}?`}
          text="Memories of teams stay. This can't be undone."
          button="Delete"
          action={() => erase({ user })}
          onClose={close}
        />
      )}
    </>
  );
}

function keyOf(id: string): string {
  return `memory ${id}`;
}
