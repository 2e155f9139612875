import { useState } from "react";
import type { WebhookInfo, WebhookTest } from "troupe/client";
import { Link } from "wouter";
import { type ManagedActions, ManagedEntry } from "../managed/managed-entry.tsx";
import { Icon } from "../parts/icon.tsx";
import { Name } from "../parts/name.tsx";
import { Problem } from "../parts/problem.tsx";
import { Status } from "../parts/status.tsx";
import { Ago } from "../parts/time.tsx";
import { useButtonAction } from "../hooks/use-button-action.ts";
import { visibleName } from "../text/foreign.ts";
import { Attempt } from "./attempt.tsx";

interface WebhookEntryProps {
  webhook: WebhookInfo;
  actions: ManagedActions | undefined;
  onTest: () => Promise<WebhookTest>;
}

export function WebhookEntry({ webhook, actions, onTest }: WebhookEntryProps) {
  const { id, url, events, team, description, enabled, disabled_reason, disabled_at } = webhook;
  const [tested, setTested] = useState<WebhookTest>();
  const testing = useButtonAction();
  return (
    <ManagedEntry
      id={id}
      title={
        <>
          <Link href={`/webhooks/${id}`}>
            <strong>{id}</strong>
          </Link>
          {!enabled && disabled_reason === null && <Status status="paused" />}
        </>
      }
      actions={actions}
      buttons={
        <button
          className="button small"
          type="button"
          disabled={testing.busy}
          aria-busy={testing.busy}
          onClick={() =>
            void testing.run(async () => {
              setTested(undefined);
              setTested(await onTest());
            })
          }
        >
          <Icon name="send" />
          Test
        </button>
      }
    >
      <p className="item-text">
        <code>{visibleName(url)}</code>
      </p>
      <p className="muted item-facts">
        <span>{events.join(", ")}</span>
        {team !== null && <span>Only for team {team}</span>}
        {description !== null && (
          <span>
            <Name name={description} />
          </span>
        )}
      </p>
      {disabled_reason !== null && (
        <p className="item-problem">
          Disabled {disabled_at !== null && <Ago time={disabled_at} />}: {disabled_reason}
        </p>
      )}
      {tested && <Attempt attempt={tested} name="Test" />}
      <Problem error={testing.error} />
    </ManagedEntry>
  );
}
