import { useCallback } from "react";
import type { StoredApproval, TeamClient } from "troupe/client";
import { ArgumentList } from "../answers/argument-list.tsx";
import { Dialog } from "../dialogs/dialog.tsx";
import { useButtonAction } from "../hooks/use-button-action.ts";
import { usePages } from "../hooks/use-list.ts";
import { Name } from "../parts/name.tsx";
import { Problem } from "../parts/problem.tsx";
import { Ago } from "../parts/time.tsx";
import { useMay } from "../shell/access.tsx";
import { useNotices } from "../shell/notices.tsx";
import { visibleName } from "../text/foreign.ts";

interface StoredApprovalsProps {
  team: TeamClient;
  onClose: () => void;
}

/** The calls that need no human any more, each with a button that ends its approval. */
export default function StoredApprovals({ team, onClose }: StoredApprovalsProps) {
  const load = useCallback(
    async (cursor: string | undefined) => {
      const { approvals, next_cursor: next } = await team.approvals(cursor ? { cursor } : {});
      return { items: approvals, next };
    },
    [team],
  );
  const { value: approvals, error, reload, hasMore, loadMore } = usePages(load);
  const mayRevoke = useMay("teams:write");
  const { tell } = useNotices();
  const task = useButtonAction();
  const revoke = async ({ id }: StoredApproval): Promise<void> => {
    await team.revokeApproval(id);
    tell("The approval was revoked.");
    reload();
  };
  return (
    <Dialog wide title="Stored approvals" onClose={onClose}>
      <div className="stack">
        <p>These calls run without a question, with these arguments only.</p>
        {approvals?.length === 0 && <p className="muted">Nothing is always allowed.</p>}
        {approvals !== undefined && approvals.length > 0 && (
          <ul className="items" aria-label="Stored approvals">
            {approvals.map((approval) => (
              <li key={approval.id} className="item">
                <div className="item-main">
                  <p className="item-title">
                    <Name name={approval.agent} /> may call{" "}
                    <code>
                      <Name name={approval.tool} />
                    </code>
                  </p>
                  <ArgumentList value={approval.arguments} />
                  <p className="muted item-facts">
                    <span>{approval.run_id === null ? "Always" : "Until its run ends"}</span>
                    <span>
                      By {approval.by.map((subject) => visibleName(subject)).join(", ")},{" "}
                      <Ago time={approval.at} />
                    </span>
                    <span>Used: {approval.uses}</span>
                  </p>
                </div>
                {mayRevoke && (
                  <div className="item-actions">
                    <button
                      className="button"
                      type="button"
                      disabled={task.busy}
                      onClick={() => void task.run(() => revoke(approval))}
                    >
                      Revoke
                    </button>
                  </div>
                )}
              </li>
            ))}
          </ul>
        )}
        {hasMore && (
          <button className="button" type="button" onClick={loadMore}>
            Show more
          </button>
        )}
        <Problem error={task.error ?? error} />
        <div className="buttons">
          <button className="button" type="button" onClick={onClose}>
            Close
          </button>
        </div>
      </div>
    </Dialog>
  );
}
