import { useRef, useState } from "react";
import type { TeamClient } from "troupe/client";
import { Link, useLocation } from "wouter";
import { comparison } from "../compare/address.ts";
import { Icon } from "../parts/icon.tsx";
import { useNotices } from "../shell/notices.tsx";
import { Confirm } from "../parts/confirm.tsx";
import { type ExportKind, EXPORTS, exportTeam } from "./export.ts";

interface TeamMenuProps {
  team: TeamClient;
  /** The team that it is a fork of. */
  origin: string | undefined;
  /** The team has another conversation now. */
  onReset: () => void;
}

/** Everything that concerns the team as a whole. */
export function TeamMenu({ team, origin, onReset }: TeamMenuProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  const [, navigate] = useLocation();
  const { attempt, tell } = useNotices();
  const [asked, setAsked] = useState<"reset" | "delete">();
  const choose = (action: () => void): void => {
    if (menu.current) menu.current.open = false;
    action();
  };
  const fork = (): void => {
    void attempt(async () => {
      const { id } = await team.fork();
      navigate(`/teams/${id}`);
      tell("This is a fork. The original is unchanged.");
    });
  };
  return (
    <>
      <details
        ref={menu}
        className="menu"
        onKeyDown={(event) => {
          if (event.key !== "Escape" || !menu.current) return;
          menu.current.open = false;
          menu.current.querySelector("summary")?.focus();
        }}
        onBlur={({ currentTarget, relatedTarget }) => {
          if (!currentTarget.contains(relatedTarget)) currentTarget.open = false;
        }}
      >
        <summary className="button quiet icon-only" aria-label="More about this team">
          <Icon name="more" />
        </summary>
        <div className="menu-items">
          <Link href={`/runs?team=${team.id}`}>Runs</Link>
          {origin !== undefined && (
            <Link href={comparison(origin, team.id)}>Compare with the original</Link>
          )}
          <Link href={`/teams/${team.id}/files`}>Files</Link>
          <Link href={`/teams/${team.id}/schedules`}>Schedules</Link>
          <button type="button" onClick={() => choose(fork)}>
            Fork
          </button>
          {(Object.keys(EXPORTS) as ExportKind[]).map((kind) => (
            <button
              key={kind}
              type="button"
              onClick={() => choose(() => void attempt(() => exportTeam(team, kind)))}
            >
              {EXPORTS[kind].name}
            </button>
          ))}
          <button type="button" onClick={() => choose(() => setAsked("reset"))}>
            Reset
          </button>
          <button type="button" className="danger" onClick={() => choose(() => setAsked("delete"))}>
            Delete
          </button>
        </div>
      </details>
      {asked === "reset" && (
        <Confirm
          title="Reset this team?"
          text="What its agents remember of the conversation is cleared, and counters start over. The messages stay here to be read, and turns before the reset can be forked."
          button="Reset"
          action={async () => {
            await team.reset();
            onReset();
            tell("The team was reset.");
          }}
          onClose={() => setAsked(undefined)}
        />
      )}
      {asked === "delete" && (
        <Confirm
          title="Delete this team?"
          text="Its run is stopped and all its data is erased. Forks of it stay."
          button="Delete"
          action={async () => {
            await team.delete();
            navigate("/");
            tell("The team was deleted.");
          }}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
}
