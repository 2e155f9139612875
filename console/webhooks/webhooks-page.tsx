import { Empty } from "../parts/empty.tsx";
import { useCallback, useState } from "react";
import type { WebhookInfo } from "troupe/client";
import { useTroupe } from "troupe/react";
import { Link } from "wouter";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { Secret } from "../dialogs/secret.tsx";
import { useLoaded } from "../hooks/use-loaded.ts";
import { useMay } from "../shell/access.tsx";
import { useGone, useNotices } from "../shell/notices.tsx";
import { useTitle } from "../shell/title.ts";
import { OF_RUNS } from "./events.ts";
import { WebhookEntry } from "./webhook-entry.tsx";
import { WebhookForm } from "./webhook-form.tsx";

/** The webhooks of the tenant. */
export function WebhooksPage() {
  useTitle("Webhooks");
  const client = useTroupe();
  const load = useCallback(() => client.webhooks.list(), [client]);
  const { value, error, reload } = useLoaded(load);
  const [form, setForm] = useState<WebhookInfo | "new">();
  const [secret, setSecret] = useState<string>();
  const { attempt, postpone } = useNotices();
  const gone = useGone();
  const mayWrite = useMay("teams:write");
  const keyOf = ({ id, created_at }: WebhookInfo): string => `webhook ${created_at} ${id}`;

  const remove = (webhook: WebhookInfo): void =>
    postpone({
      key: keyOf(webhook),
      text: `The webhook ${webhook.id} and its deliveries were deleted.`,
      action: () => client.webhooks.delete(webhook.id),
    });
  const rotate = ({ id }: WebhookInfo): Promise<void> =>
    attempt(async () => {
      setSecret((await client.webhooks.rotateSecret(id)).secret);
    });

  if (value === undefined && error !== undefined) {
    return <Failure error={error} onRetry={reload} />;
  }
  const webhooks = value?.filter((webhook) => !gone.has(keyOf(webhook)));
  const create = (
    <button className="button primary" type="button" onClick={() => setForm("new")}>
      <Icon name="plus" />
      New webhook
    </button>
  );
  return (
    <div className="page">
      <header className="page-head">
        <h1>Webhooks</h1>
        {mayWrite && webhooks !== undefined && webhooks.length > 0 && create}
      </header>
      {webhooks === undefined && (
        <p className="loading" role="status">
          Loading
        </p>
      )}
      {webhooks?.length === 0 && (
        <Empty
          title="No webhooks yet."
          text="Troupe sends a signed request to the URL of a webhook when a run ends, a person is asked, or a message is added."
        >
          {mayWrite && create}
        </Empty>
      )}
      {webhooks !== undefined && webhooks.length > 0 && (
        <ul className="items" aria-label="Webhooks">
          {webhooks.map((webhook) => (
            <WebhookEntry
              key={webhook.id}
              webhook={webhook}
              actions={
                mayWrite
                  ? {
                      onTest: () => client.webhooks.test(webhook.id),
                      onRotate: () => rotate(webhook),
                      onEdit: () => setForm(webhook),
                      onDelete: () => remove(webhook),
                    }
                  : undefined
              }
            />
          ))}
        </ul>
      )}
      {webhooks !== undefined && (
        <p>
          <Link href={`/webhooks/${OF_RUNS}`}>Deliveries for single runs</Link>
        </p>
      )}
      {form !== undefined && (
        <WebhookForm
          webhook={form === "new" ? undefined : form}
          taken={value?.map(({ id }) => id) ?? []}
          onClose={() => setForm(undefined)}
          onSaved={(made) => {
            setSecret(made);
            reload();
          }}
        />
      )}
      {secret !== undefined && (
        <Secret
          title="Webhook secret"
          text="Copy it now: it is not shown again. Your server verifies requests with it and a Standard Webhooks library. A previous secret stays valid for a day."
          secret={secret}
          onClose={() => setSecret(undefined)}
        />
      )}
    </div>
  );
}
