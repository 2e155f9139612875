import { lazy, Suspense, useCallback, useState } from "react";
import type { TeamVersion } from "troupe/client";
import { Link } from "wouter";
import { Confirm } from "../dialogs/confirm.tsx";
import { useList } from "../hooks/use-list.ts";
import { Failure } from "../parts/failure.tsx";
import { Ago } from "../parts/time.tsx";
import { useMay } from "../shell/access.tsx";
import { useNotices } from "../shell/notices.tsx";
import { useFramedTeam } from "../team/framed-team.ts";
import { visibleName } from "../text/foreign.ts";
import { LabelForm } from "./label-form.tsx";

const Difference = lazy(() => import("./difference.tsx"));

const PAGE = 50;

/** The versions of a team: who made them, what they changed, and a way back. */
export function VersionsPage() {
  const { handle: team, reloadInfo } = useFramedTeam();
  const load = useCallback(
    async (cursor: string | undefined) => {
      const query = { limit: PAGE, ...(cursor !== undefined && { cursor }) };
      const { versions: items, next_cursor: next } = await team.versions.list(query);
      return { items, next };
    },
    [team],
  );
  const { value: versions, error, reload, hasMore, loadMore } = useList(load, ["team"]);
  const [opened, setOpened] = useState<number>();
  const [asked, setAsked] = useState<{ kind: "restore" | "label"; version: TeamVersion }>();
  const { tell } = useNotices();
  const mayWrite = useMay("teams:write");
  const mayRun = useMay("runs:write");
  if (versions === undefined) {
    if (error !== undefined) return <Failure error={error} onRetry={reload} />;
    return (
      <p className="loading" role="status">
        Loading
      </p>
    );
  }
  const close = (): void => setAsked(undefined);
  return (
    <section className="page versions" aria-label="Versions">
      <p className="muted">
        Each change of the team makes a version. The latest 200 and those with a label are kept.
      </p>
      <ol>
        {versions.map((version) => {
          const { component_version: n, label, note, by, current, created_at } = version;
          const name = `version ${n}`;
          const others = versions.filter((other) => other.component_version !== n);
          return (
            <li key={n} className="version">
              <header>
                <h2>Version {n}</h2>
                {current && <span className="tag">Now</span>}
                {label !== null && <span className="tag">{visibleName(label)}</span>}
                <span className="muted">
                  <Ago time={created_at} />
                  {by !== null && ` by ${visibleName(by)}`}
                </span>
                <span className="buttons">
                  {others.length > 0 && (
                    <button
                      className="button small"
                      type="button"
                      aria-expanded={opened === n}
                      aria-label={`Differences of ${name}`}
                      onClick={() => setOpened(opened === n ? undefined : n)}
                    >
                      Differences
                    </button>
                  )}
                  {mayWrite && (
                    <button
                      className="button small"
                      type="button"
                      aria-label={`Label ${name}`}
                      onClick={() => setAsked({ kind: "label", version })}
                    >
                      Label
                    </button>
                  )}
                  {mayWrite && mayRun && (
                    <Link
                      className="button small"
                      href={`/teams/${team.id}/playground?version=${n}`}
                      aria-label={`Try ${name} in the playground`}
                    >
                      Try
                    </Link>
                  )}
                  {mayWrite && !current && (
                    <button
                      className="button small"
                      type="button"
                      aria-label={`Restore ${name}`}
                      onClick={() => setAsked({ kind: "restore", version })}
                    >
                      Restore
                    </button>
                  )}
                </span>
              </header>
              {note !== null && <p className="version-note">{visibleName(note)}</p>}
              {opened === n && (
                <Suspense
                  fallback={
                    <p className="loading" role="status">
                      Loading
                    </p>
                  }
                >
                  <Difference team={team} version={n} others={others} />
                </Suspense>
              )}
            </li>
          );
        })}
      </ol>
      {hasMore && (
        <button className="button" type="button" onClick={loadMore}>
          Show more
        </button>
      )}
      {asked?.kind === "restore" && (
        <Confirm
          title={`Restore version ${asked.version.component_version}?`}
          text="The team gets its agents, prompts and models again, as a new version. The conversation stays, and so do all versions."
          button="Restore"
          action={async () => {
            const current = versions.find((version) => version.current)?.component_version;
            const n = asked.version.component_version;
            const restored = await team.versions.restore(n, { version: current });
            reload();
            reloadInfo();
            tell(`Version ${n} is restored, as version ${restored.component_version}.`);
          }}
          onClose={close}
        />
      )}
      {asked?.kind === "label" && (
        <LabelForm team={team} version={asked.version} onSaved={reload} onClose={close} />
      )}
    </section>
  );
}
