import { counted } from "../parts/numbers.ts";
import type { WebhookDelivery } from "troupe/client";
import { Link } from "wouter";
import { Icon } from "../parts/icon.tsx";
import { Status } from "../parts/status.tsx";
import { Ago } from "../parts/time.tsx";
import { useButtonAction } from "../hooks/use-button-action.ts";
import { Attempt } from "./attempt.tsx";

interface DeliveryEntryProps {
  delivery: WebhookDelivery;
  /** Undefined for users who may only read. */
  onRetry: (() => Promise<void>) | undefined;
}

export function DeliveryEntry({ delivery, onRetry }: DeliveryEntryProps) {
  const { id, type, team_id, run_id, status, attempts, created_at } = delivery;
  const { last_attempt, next_attempt_at } = delivery;
  const task = useButtonAction();
  return (
    <li className="item">
      <div className="item-main">
        <p className="item-title">
          <strong>{type}</strong>
          <Status status={status} />
        </p>
        <p className="muted item-facts">
          <Ago time={created_at} />
          <span>
            Team <Link href={`/teams/${team_id}`}>{team_id}</Link>,{" "}
            <Link href={`/teams/${team_id}/runs/${run_id}`}>run</Link>
          </span>
          <span>{counted(attempts, "attempt")}</span>
          {next_attempt_at !== null && attempts > 0 && (
            <span>
              Next attempt at{" "}
              <time dateTime={next_attempt_at}>{new Date(next_attempt_at).toLocaleString()}</time>
            </span>
          )}
          <code>{id}</code>
        </p>
        {last_attempt && <Attempt attempt={last_attempt} name="Last attempt" />}
      </div>
      {onRetry && (
        <div className="item-actions">
          <button
            className="button small"
            type="button"
            disabled={task.busy}
            aria-busy={task.busy}
            onClick={() => void task.run(onRetry)}
          >
            <Icon name="retry" />
            Send again
          </button>
        </div>
      )}
    </li>
  );
}
