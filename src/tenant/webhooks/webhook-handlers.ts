import type { TenantGateway } from "../../contract/gateways/tenant-gateway.ts";
import type { Handlers } from "../../sqlite/remote-methods.ts";
import { ok, refuse, type Refused, refuseInput } from "../../contract/result.ts";
import { DEFAULT_WEBHOOK } from "../../contract/constants.ts";
import type { WebhookInfo, WebhookSecret } from "../../contract/webhook.ts";
import { givenWebhookUrl, shownWebhookUrl } from "../../secrets/webhook-url.ts";
import type { Sealer } from "../../secrets/sealer.ts";
import { fromCursor, invalidCursor, toCursor } from "../directory/cursor.ts";
import { publicDelivery } from "./delivery-store.ts";
import { isDelivered, shownResult } from "./dispatcher.ts";
import { eventBody } from "./event-body.ts";
import { newSecret } from "./secret-store.ts";
import type { Webhooks } from "./webhooks.ts";

const MOST_WEBHOOKS = 50;

/** Access to the webhooks for the commands. */
export interface WebhookSource {
  /** Undefined while nothing is stored for the tenant. */
  stored: () => Webhooks | undefined;
  /** Creates the tenant's tables first when they do not exist. */
  hold: () => Webhooks;
  sealer: Sealer;
}

type WebhookMethods = Pick<
  TenantGateway,
  | "putWebhook"
  | "webhooks"
  | "webhook"
  | "deleteWebhook"
  | "defaultWebhookSecret"
  | "rotateWebhookSecret"
  | "webhookDeliveries"
  | "retryWebhookDelivery"
  | "testWebhook"
>;

/** Commands on the webhooks of a tenant. */
export const webhookHandlers = {
  async putWebhook({ webhooks: source }, id, input) {
    if (id === DEFAULT_WEBHOOK) return reserved();
    try {
      const secret = find(source, id) === undefined ? await newSecret(source.sealer) : null;
      const webhooks = source.hold();
      const { db, store, secrets, dispatcher } = webhooks;
      const before = store.get(id);
      const url = givenWebhookUrl(input.url, before?.url);
      if (url === undefined) return redactedUrl();
      if (before === undefined && store.size >= MOST_WEBHOOKS) return tooMany();
      const now = Date.now();
      const created = before === undefined && secret !== null;
      const webhook = db.transaction(() => {
        if (created) secrets.add(id, secret.sealed, now);
        if (!input.enabled) dispatcher.failPending(id);
        return store.put(id, { ...input, url }, now);
      });
      return ok({ ...shownWebhook(webhook), ...(created && { secret: secret.plain }), created });
    } catch (error) {
      return refuseInput(error);
    }
  },

  async webhooks({ webhooks: source }) {
    return (source.stored()?.store.list() ?? []).map(shownWebhook);
  },

  async webhook({ webhooks: source }, id) {
    const webhook = find(source, id);
    return webhook === undefined ? webhookNotFound() : ok(shownWebhook(webhook));
  },

  async deleteWebhook({ webhooks: source }, id) {
    if (find(source, id) === undefined) return webhookNotFound();
    const { db, store, secrets, deliveries, queues } = source.hold();
    db.transaction(() => {
      deliveries.removeAll(id);
      secrets.remove(id);
      store.remove(id);
    });
    queues.clear(id);
    return ok(null);
  },

  async defaultWebhookSecret({ webhooks: source }) {
    try {
      const { sealer, stored, hold } = source;
      if (stored()?.secrets.has(DEFAULT_WEBHOOK) !== true) {
        // Checked before the tables are created: without SECRETS_KEY nothing is stored.
        const { sealed } = await newSecret(sealer);
        const { secrets } = hold();
        if (!secrets.has(DEFAULT_WEBHOOK)) secrets.add(DEFAULT_WEBHOOK, sealed, Date.now());
      }
      return ok(await shownSecret(source, DEFAULT_WEBHOOK));
    } catch (error) {
      return refuseInput(error);
    }
  },

  async rotateWebhookSecret({ webhooks: source }, id, { revoke_previous }) {
    if (id !== DEFAULT_WEBHOOK && find(source, id) === undefined) return webhookNotFound();
    try {
      const secret = await newSecret(source.sealer);
      // The webhook may have been removed in the meantime.
      if (id !== DEFAULT_WEBHOOK && find(source, id) === undefined) return webhookNotFound();
      const { secrets } = source.hold();
      if (revoke_previous) secrets.remove(id);
      secrets.add(id, secret.sealed, Date.now());
      return ok(await shownSecret(source, id));
    } catch (error) {
      return refuseInput(error);
    }
  },

  async webhookDeliveries({ webhooks: source }, id, { status, limit, cursor }) {
    if (id !== DEFAULT_WEBHOOK && find(source, id) === undefined) return webhookNotFound();
    const position = cursor === undefined ? [Infinity] : fromCursor(cursor, ["number"]);
    if (position === undefined) return invalidCursor();
    const before = Math.min(Number(position[0]), Number.MAX_SAFE_INTEGER);
    const found = source.stored()?.deliveries.page(id, status, before, limit + 1) ?? [];
    const page = found.slice(0, limit);
    const last = page.at(-1);
    return ok({
      deliveries: page.map(publicDelivery),
      next_cursor: found.length > limit && last ? toCursor(last.seq) : null,
    });
  },

  async retryWebhookDelivery({ webhooks: source }, id, delivery) {
    const webhook = find(source, id);
    if (id !== DEFAULT_WEBHOOK && webhook === undefined) return webhookNotFound();
    const webhooks = source.stored();
    const found = webhooks?.deliveries.find(id, delivery);
    if (webhooks === undefined || found === undefined) return deliveryNotFound();
    if (webhook?.enabled === false) return disabled();
    const record = { ...found.record, tries: 0, next_at: Date.now() };
    webhooks.deliveries.save(found, "pending", record);
    const pending = { ...found, status: "pending" as const, record };
    webhooks.queues.add(pending);
    webhooks.dispatcher.dispatch();
    return ok(publicDelivery(pending));
  },

  async testWebhook({ webhooks: source }, id) {
    const webhook = find(source, id);
    if (webhook === undefined) return webhookNotFound();
    const body = eventBody({
      type: "webhook.test",
      timestamp: new Date().toISOString(),
      data: { webhook_id: id },
    });
    const target = { id: `msg_test_${crypto.randomUUID()}`, url: webhook.url, body };
    const result = await source.hold().dispatcher.test(target, id);
    return ok({ delivered: isDelivered(result), ...shownResult(result) });
  },
} satisfies Handlers<WebhookMethods, { webhooks: WebhookSource }>;

function find(source: WebhookSource, id: string): WebhookInfo | undefined {
  return source.stored()?.store.get(id);
}

async function shownSecret(source: WebhookSource, id: string): Promise<WebhookSecret> {
  const { secrets } = source.hold();
  const until = secrets.previousUntil(id, Date.now());
  return {
    secret: await secrets.newest(id),
    previous_secret_expires_at: until === null ? null : new Date(until).toISOString(),
  };
}

/** The webhook without the secrets of its URL. */
function shownWebhook(webhook: WebhookInfo): WebhookInfo {
  return { ...webhook, url: shownWebhookUrl(webhook.url) };
}

function redactedUrl(): Refused {
  const message = "is redacted, and is not the URL of this webhook as it is shown: give all of it";
  const errors = [{ path: "url", message }];
  return {
    ok: false,
    problem: { status: 422, code: "invalid_request", detail: `url ${message}.`, errors },
  };
}

function webhookNotFound(): Refused {
  return refuse(404, "webhook_not_found", "There is no such webhook.");
}

function deliveryNotFound(): Refused {
  return refuse(
    404,
    "delivery_not_found",
    "The webhook has no such delivery; old ones are removed.",
  );
}

function disabled(): Refused {
  return refuse(
    409,
    "webhook_disabled",
    "The webhook is disabled: enable it with PUT, then retry the delivery.",
  );
}

function tooMany(): Refused {
  return refuse(
    409,
    "too_many_webhooks",
    `A tenant can have at most ${MOST_WEBHOOKS} webhooks: delete one first.`,
    { limit: MOST_WEBHOOKS },
  );
}

function reserved(): Refused {
  const detail = `The id "${DEFAULT_WEBHOOK}" is reserved: it stands for the tenant's secret and the webhooks on runs.`;
  const errors = [{ path: "webhook", message: "is reserved; choose another id" }];
  return { ok: false, problem: { status: 422, code: "reserved_webhook", detail, errors } };
}
