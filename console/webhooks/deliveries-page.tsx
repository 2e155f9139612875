import { Empty } from "../parts/empty.tsx";
import { useCallback, useEffect } from "react";
import type { DirectoryChange, WebhookDelivery } from "troupe/client";
import { useTroupe } from "troupe/react";
import { Link, useSearchParams } from "wouter";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { useList } from "../hooks/use-list.ts";
import { useMay } from "../shell/access.tsx";
import { useNotices } from "../shell/notices.tsx";
import { useTitle } from "../shell/title.ts";
import { DeliveryEntry } from "./delivery-entry.tsx";
import { OF_RUNS } from "./events.ts";

const PAGE = 50;
const STATUSES = ["pending", "delivered", "failed"] as const;
/** Changes that cause deliveries. */
const KINDS: readonly DirectoryChange["kind"][] = ["run", "request"];
/** The interval at which pending deliveries are reloaded, because no event reports them. */
const PENDING_MS = 3_000;

/** The deliveries of a webhook and their results. */
export function DeliveriesPage({ webhookId }: { webhookId: string }) {
  useTitle("Deliveries");
  const client = useTroupe();
  const [parameters, setParameters] = useSearchParams();
  const status = STATUSES.find((one) => one === parameters.get("status"));
  const load = useCallback(
    async (cursor: string | undefined) => {
      const query = { status, limit: PAGE, cursor };
      const page = await client.webhooks.deliveries(webhookId, query);
      return { items: page.deliveries, next: page.next_cursor };
    },
    [client, webhookId, status],
  );
  const { value: deliveries, error, reload, hasMore, loadMore } = useList(load, KINDS);
  const { attempt } = useNotices();
  const mayWrite = useMay("teams:write");
  const pending = deliveries?.some((one) => one.status === "pending") === true;
  useEffect(() => {
    if (!pending) return undefined;
    const timer = setInterval(reload, PENDING_MS);
    return () => clearInterval(timer);
  }, [pending, reload]);

  const retry = ({ id }: WebhookDelivery): Promise<void> =>
    attempt(async () => {
      await client.webhooks.retry(webhookId, id);
      reload();
    });

  if (deliveries === undefined && error !== undefined) {
    return <Failure error={error} onRetry={reload} />;
  }
  return (
    <div className="page">
      <header className="page-head">
        <Link className="button quiet icon-only" href="/webhooks" aria-label="All webhooks">
          <Icon name="back" />
        </Link>
        <h1>
          Deliveries{" "}
          <span className="of-team muted">
            {webhookId === OF_RUNS ? "for single runs" : webhookId}
          </span>
        </h1>
        <select
          aria-label="Status"
          value={status ?? ""}
          onChange={({ target }) =>
            setParameters(target.value === "" ? {} : { status: target.value }, { replace: true })
          }
        >
          <option value="">Any status</option>
          {STATUSES.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </header>
      {deliveries === undefined && (
        <p className="loading" role="status">
          Loading
        </p>
      )}
      {deliveries?.length === 0 && (
        <Empty
          title={status === undefined ? "No deliveries yet." : `No deliveries are ${status}.`}
          text="Each delivery appears here with its attempts and its response."
        />
      )}
      {deliveries !== undefined && deliveries.length > 0 && (
        <ul className="items" aria-label="Deliveries">
          {deliveries.map((delivery) => (
            <DeliveryEntry
              key={delivery.id}
              delivery={delivery}
              onRetry={mayWrite ? () => retry(delivery) : undefined}
            />
          ))}
        </ul>
      )}
      {hasMore && (
        <button className="button" type="button" onClick={loadMore}>
          Show more
        </button>
      )}
    </div>
  );
}
