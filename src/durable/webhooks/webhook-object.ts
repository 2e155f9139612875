import { DurableObject } from "cloudflare:workers";
import { refuse, type Refused, ok, type Result } from "../../contract/result.ts";
import { DEFAULT_WEBHOOK } from "../../contract/constants.ts";
import type {
  DeliveryPage,
  DeliveryQuery,
  PutWebhook,
  PutWebhookAnswer,
  RotateSecret,
  WebhookDelivery,
  WebhookInfo,
  WebhookSecret,
  WebhookTest,
} from "../../contract/webhooks/webhook.ts";
import type { WebhookGateway } from "../../contract/gateways/webhook-gateway.ts";
import { givenWebhookUrl, shownWebhookUrl } from "../../secrets/webhook-url.ts";
import type { Sealer } from "../../secrets/sealer.ts";
import { fromCursor, invalidCursor, toCursor } from "../tenant/directory/cursor.ts";
import { refuseInput } from "../object/refusals.ts";
import { shown } from "./delivery-store.ts";
import { isDelivered, shownResult } from "./dispatcher.ts";
import { eventBody } from "./event-body.ts";
import { newSecret } from "./secret-store.ts";
import type { Webhooks } from "./webhooks.ts";

const MOST_WEBHOOKS = 50;

/** Where the operations find the webhooks. */
export interface WebhookSource {
  /** Undefined while nothing is stored of the tenant. */
  stored: () => Webhooks | undefined;
  /** Makes the tenant's tables first, if need be. */
  hold: () => Webhooks;
  sealer: Sealer;
}

/** The operations on webhooks of the object that holds them: the remote side of WebhookGateway. */
export abstract class WebhookObject<Env> extends DurableObject<Env> implements WebhookGateway {
  protected abstract readonly webhookSource: WebhookSource;

  async putWebhook(id: string, input: PutWebhook): Promise<Result<PutWebhookAnswer>> {
    if (id === DEFAULT_WEBHOOK) return reserved();
    try {
      const secret =
        this.#find(id) === undefined ? await newSecret(this.webhookSource.sealer) : null;
      const webhooks = this.webhookSource.hold();
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
  }

  async webhooks(): Promise<WebhookInfo[]> {
    return (this.webhookSource.stored()?.store.list() ?? []).map(shownWebhook);
  }

  async webhook(id: string): Promise<Result<WebhookInfo>> {
    const webhook = this.#find(id);
    return webhook === undefined ? webhookNotFound() : ok(shownWebhook(webhook));
  }

  async deleteWebhook(id: string): Promise<Result<null>> {
    if (this.#find(id) === undefined) return webhookNotFound();
    const { db, store, secrets, deliveries, queues } = this.webhookSource.hold();
    db.transaction(() => {
      deliveries.removeAll(id);
      secrets.remove(id);
      store.remove(id);
    });
    queues.clear(id);
    return ok(null);
  }

  async defaultWebhookSecret(): Promise<Result<WebhookSecret>> {
    try {
      const { sealer, stored, hold } = this.webhookSource;
      if (stored()?.secrets.has(DEFAULT_WEBHOOK) !== true) {
        // Before the tables are made: without SECRETS_KEY nothing is stored.
        const { sealed } = await newSecret(sealer);
        const { secrets } = hold();
        if (!secrets.has(DEFAULT_WEBHOOK)) secrets.add(DEFAULT_WEBHOOK, sealed, Date.now());
      }
      return ok(await this.#shownSecret(DEFAULT_WEBHOOK));
    } catch (error) {
      return refuseInput(error);
    }
  }

  async rotateWebhookSecret(
    id: string,
    { revoke_previous }: RotateSecret,
  ): Promise<Result<WebhookSecret>> {
    if (id !== DEFAULT_WEBHOOK && this.#find(id) === undefined) return webhookNotFound();
    try {
      const secret = await newSecret(this.webhookSource.sealer);
      // It may have been removed in the meantime.
      if (id !== DEFAULT_WEBHOOK && this.#find(id) === undefined) return webhookNotFound();
      const { secrets } = this.webhookSource.hold();
      if (revoke_previous) secrets.remove(id);
      secrets.add(id, secret.sealed, Date.now());
      return ok(await this.#shownSecret(id));
    } catch (error) {
      return refuseInput(error);
    }
  }

  async webhookDeliveries(
    id: string,
    { status, limit, cursor }: DeliveryQuery,
  ): Promise<Result<DeliveryPage>> {
    if (id !== DEFAULT_WEBHOOK && this.#find(id) === undefined) return webhookNotFound();
    const position = cursor === undefined ? [Infinity] : fromCursor(cursor, ["number"]);
    if (position === undefined) return invalidCursor();
    const before = Math.min(Number(position[0]), Number.MAX_SAFE_INTEGER);
    const found = this.webhookSource.stored()?.deliveries.page(id, status, before, limit + 1) ?? [];
    const page = found.slice(0, limit);
    const last = page.at(-1);
    return ok({
      deliveries: page.map(shown),
      next_cursor: found.length > limit && last ? toCursor(last.seq) : null,
    });
  }

  async retryWebhookDelivery(id: string, delivery: string): Promise<Result<WebhookDelivery>> {
    const webhook = this.#find(id);
    if (id !== DEFAULT_WEBHOOK && webhook === undefined) return webhookNotFound();
    const webhooks = this.webhookSource.stored();
    const found = webhooks?.deliveries.find(id, delivery);
    if (webhooks === undefined || found === undefined) return deliveryNotFound();
    if (webhook?.enabled === false) return disabled();
    const record = { ...found.record, tries: 0, next_at: Date.now() };
    webhooks.deliveries.save(found, "pending", record);
    const pending = { ...found, status: "pending" as const, record };
    webhooks.queues.add(pending);
    webhooks.dispatcher.dispatch();
    return ok(shown(pending));
  }

  async testWebhook(id: string): Promise<Result<WebhookTest>> {
    const webhook = this.#find(id);
    if (webhook === undefined) return webhookNotFound();
    const body = eventBody({
      type: "webhook.test",
      timestamp: new Date().toISOString(),
      data: { webhook_id: id },
    });
    const target = { id: `msg_test_${crypto.randomUUID()}`, url: webhook.url, body };
    const result = await this.webhookSource.hold().dispatcher.test(target, id);
    return ok({ delivered: isDelivered(result), ...shownResult(result) });
  }

  #find(id: string): WebhookInfo | undefined {
    return this.webhookSource.stored()?.store.get(id);
  }

  async #shownSecret(id: string): Promise<WebhookSecret> {
    const { secrets } = this.webhookSource.hold();
    const until = secrets.previousUntil(id, Date.now());
    return {
      secret: await secrets.newest(id),
      previous_secret_expires_at: until === null ? null : new Date(until).toISOString(),
    };
  }
}

/** Without the secrets of its URL. */
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
