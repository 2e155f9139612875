import { lazy, Suspense, useState } from "react";
import type { TeamClient } from "troupe/client";
import { namedFork } from "../conversation/fork.ts";
import { Link, useLocation } from "wouter";
import { comparison } from "../compare/address.ts";
import { Icon } from "../parts/icon.tsx";
import { Menu } from "../parts/menu.tsx";
import { useNotices } from "../shell/notices.tsx";
import { Confirm } from "../dialogs/confirm.tsx";
import { type ExportKind, EXPORTS, exportTeam } from "./export.ts";
import { useMay } from "../shell/access.tsx";

const StoredApprovals = lazy(() => import("../approvals/stored-approvals.tsx"));
const ShareDialog = lazy(() => import("../share/share-dialog.tsx"));

interface TeamMenuProps {
  team: TeamClient;
  /** The original, if the team is a fork. */
  origin: string | undefined;
  /** Called when the team's conversation was reset. */
  onReset: () => void;
}

/** The menu of actions on the team. */
export function TeamMenu({ team, origin, onReset }: TeamMenuProps) {
  const [path, navigate] = useLocation();
  const page = `/teams/${team.id}`;
  const { attempt, tell } = useNotices();
  const mayRead = useMay("teams:read");
  const mayWrite = useMay("teams:write");
  const [asked, setAsked] = useState<"reset" | "delete" | "share" | "approvals">();
  const fork = (): void => {
    void attempt(async () => {
      const { id } = await namedFork(team);
      navigate(`/teams/${id}`);
      tell("This is a fork. The original is unchanged.");
    });
  };
  return (
    <>
      <Menu
        summary={
          <summary className="button quiet icon-only" aria-label="More about this team">
            <Icon name="more" />
          </summary>
        }
      >
        {origin !== undefined && (
          <Link href={comparison(origin, team.id)}>Compare with the original</Link>
        )}
        {path === page && (
          <>
            <Link href={`${page}?find=`} aria-keyshortcuts="Control+F">
              Find in the conversation
            </Link>
            <Link href={`${page}?message=0`}>Go to the first message</Link>
            <button type="button" onClick={() => window.print()}>
              Print
            </button>
          </>
        )}
        {mayWrite && (
          <>
            <button type="button" onClick={fork}>
              Fork
            </button>
            <button type="button" onClick={() => setAsked("share")}>
              Share
            </button>
          </>
        )}
        {mayRead && (
          <button type="button" onClick={() => setAsked("approvals")}>
            Stored approvals
          </button>
        )}
        {(Object.keys(EXPORTS) as ExportKind[]).map((kind) => (
          <button
            key={kind}
            type="button"
            onClick={() => void attempt(() => exportTeam(team, kind))}
          >
            {EXPORTS[kind].name}
          </button>
        ))}
        {mayWrite && (
          <>
            <button type="button" onClick={() => setAsked("reset")}>
              Reset
            </button>
            <button type="button" className="danger" onClick={() => setAsked("delete")}>
              Delete
            </button>
          </>
        )}
      </Menu>
      {asked === "approvals" && (
        <Suspense>
          <StoredApprovals team={team} onClose={() => setAsked(undefined)} />
        </Suspense>
      )}
      {asked === "share" && (
        <Suspense>
          <ShareDialog team={team} onClose={() => setAsked(undefined)} />
        </Suspense>
      )}
      {asked === "reset" && (
        <Confirm
          title="Reset this team?"
          text="The agents forget the conversation, and counters start over. You can still read the messages here and fork from turns before the reset."
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
          text="Its active run is stopped and all its data is erased. Its forks are kept."
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
