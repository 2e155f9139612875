import { useCallback } from "react";
import { useTroupe } from "troupe/react";
import { Link } from "wouter";
import { ManagedPage } from "../managed/managed-page.tsx";
import { useTitle } from "../shell/title.ts";
import { OF_RUNS } from "./events.ts";
import { WebhookEntry } from "./webhook-entry.tsx";
import { WebhookForm } from "./webhook-form.tsx";

/** The webhooks of the tenant. */
export function WebhooksPage() {
  useTitle("Webhooks");
  const { webhooks } = useTroupe();
  const load = useCallback(() => webhooks.list(), [webhooks]);
  return (
    <ManagedPage
      noun="webhook"
      name="Webhooks"
      heading
      about="Troupe sends a signed request to the URL of a webhook when a run ends, a person is asked, or a message is added."
      aboutSecret="Your server verifies requests with it and a Standard Webhooks library."
      deleted={({ id }) => `The webhook ${id} and its deliveries were deleted.`}
      load={load}
      onRotate={({ id }) => webhooks.rotateSecret(id)}
      onDelete={({ id }) => webhooks.delete(id)}
      entry={(webhook, actions) => (
        <WebhookEntry
          key={webhook.id}
          webhook={webhook}
          actions={actions}
          onTest={() => webhooks.test(webhook.id)}
        />
      )}
      form={({ item, ...form }) => <WebhookForm webhook={item} {...form} />}
    >
      <p>
        <Link href={`/webhooks/${OF_RUNS}`}>Deliveries for single runs</Link>
      </p>
    </ManagedPage>
  );
}
