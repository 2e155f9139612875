import { useState } from "react";
import type { TeamClient, TriggerInfo } from "troupe/client";
import { type ManagedActions, ManagedEntry } from "../managed/managed-entry.tsx";
import { Name } from "../parts/name.tsx";
import { visibleName } from "../text/foreign.ts";
import { Deliveries } from "./deliveries.tsx";
import { ISSUED, KINDS } from "./kinds.ts";
import { RECEIVERS } from "./receiver.ts";

interface TriggerEntryProps {
  team: TeamClient;
  trigger: TriggerInfo;
  actions: ManagedActions | undefined;
}

/** A trigger, with its events once they are unfolded. */
export function TriggerEntry({ team, trigger, actions }: TriggerEntryProps) {
  const { id, kind, address, task, filter, user, notify = [] } = trigger;
  const [open, setOpen] = useState(false);
  return (
    <ManagedEntry
      id={id}
      title={<strong>{id}</strong>}
      actions={actions}
      // Their secrets come from the sender: the form takes another one.
      rotates={kind !== "email" && !ISSUED.has(kind)}
    >
      <p className="item-text">
        <code>{address}</code>
      </p>
      <p className="item-text">{visibleName(task)}</p>
      <p className="muted item-facts">
        <span>{KINDS[kind]}</span>
        {filter !== null && <span>Filtered</span>}
        {user !== null && (
          <span>
            For <Name name={user} />
          </span>
        )}
        {notify.length > 0 && (
          <span>Messages to {notify.map((one) => RECEIVERS[one.kind]).join(", ")}</span>
        )}
      </p>
      <details className="fold" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Events</summary>
        <div className="fold-body">{open && <Deliveries team={team} trigger={id} />}</div>
      </details>
    </ManagedEntry>
  );
}
