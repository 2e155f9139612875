import { useState } from "react";
import type { WebhookInfo, WebhookTest } from "troupe/client";
import { Link } from "wouter";
import { Icon } from "../parts/icon.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { Name } from "../parts/name.tsx";
import { Problem } from "../parts/problem.tsx";
import { Status } from "../parts/status.tsx";
import { Ago } from "../parts/time.tsx";
import { useButtonAction } from "../hooks/use-button-action.ts";
import { visibleName } from "../text/foreign.ts";
import { Attempt } from "./attempt.tsx";

interface WebhookActions {
  onTest: () => Promise<WebhookTest>;
  onRotate: () => Promise<void>;
  onEdit: () => void;
  onDelete: () => void;
}

interface WebhookEntryProps {
  webhook: WebhookInfo;
  /** Undefined for users who may only read. */
  actions: WebhookActions | undefined;
}

export function WebhookEntry({ webhook, actions }: WebhookEntryProps) {
  const { id, url, events, team, description, enabled, disabled_reason, disabled_at } = webhook;
  const [tested, setTested] = useState<WebhookTest>();
  const testing = useButtonAction();
  const rotating = useButtonAction();
  return (
    <li className="item">
      <div className="item-main">
        <p className="item-title">
          <Link href={`/webhooks/${id}`}>
            <strong>{id}</strong>
          </Link>
          {!enabled && disabled_reason === null && <Status status="paused" />}
        </p>
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
      </div>
      {actions && (
        <div className="item-actions" role="group" aria-label={id}>
          <button
            className="button small"
            type="button"
            disabled={testing.busy}
            aria-busy={testing.busy}
            onClick={() =>
              void testing.run(async () => {
                setTested(undefined);
                setTested(await actions.onTest());
              })
            }
          >
            <Icon name="send" />
            Test
          </button>
          <button
            className="button small"
            type="button"
            disabled={rotating.busy}
            aria-busy={rotating.busy}
            onClick={() => void rotating.run(actions.onRotate)}
          >
            <Icon name="retry" />
            New secret
          </button>
          <IconButton icon="edit" name="Edit" onClick={actions.onEdit} />
          <IconButton icon="bin" name="Delete" onClick={actions.onDelete} />
        </div>
      )}
    </li>
  );
}
