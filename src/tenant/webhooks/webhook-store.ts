import type { PutWebhook, WebhookEvent, WebhookInfo } from "../../contract/webhook.ts";
import type { Database } from "../../sqlite/database.ts";

/** The webhooks of a tenant. They are few, so all of them are kept in memory. */
export class WebhookStore {
  readonly #db: Database;
  readonly #webhooks = new Map<string, WebhookInfo>();

  constructor(db: Database) {
    this.#db = db;
    for (const { record } of db.all<{ record: string }>("select record from webhook order by id")) {
      const webhook = JSON.parse(record) as WebhookInfo;
      this.#webhooks.set(webhook.id, webhook);
    }
  }

  get size(): number {
    return this.#webhooks.size;
  }

  get(id: string): WebhookInfo | undefined {
    return this.#webhooks.get(id);
  }

  /** The webhooks by id. */
  list(): WebhookInfo[] {
    return [...this.#webhooks.values()].toSorted((one, other) => (one.id < other.id ? -1 : 1));
  }

  /** The enabled webhooks that subscribe to an event. */
  wanting({ type, team_id }: Pick<WebhookEvent, "type" | "team_id">): WebhookInfo[] {
    return this.list().filter(
      ({ enabled, events, team }) =>
        enabled && events.includes(type) && (team === null || team === team_id),
    );
  }

  /** Creates or replaces a webhook. */
  put(id: string, input: PutWebhook, now: number): WebhookInfo {
    const before = this.get(id);
    const time = new Date(now).toISOString();
    const disabled_at = input.enabled ? null : (before?.disabled_at ?? time);
    return this.#save({
      ...input,
      id,
      disabled_reason: input.enabled ? null : (before?.disabled_reason ?? null),
      disabled_at,
      created_at: before?.created_at ?? time,
      updated_at: time,
    });
  }

  disable(webhook: WebhookInfo, disabled_reason: string, now: number): void {
    const disabled_at = new Date(now).toISOString();
    this.#save({ ...webhook, enabled: false, disabled_reason, disabled_at });
  }

  remove(id: string): void {
    this.#db.write("delete from webhook where id = ?", id);
    this.#webhooks.delete(id);
  }

  #save(webhook: WebhookInfo): WebhookInfo {
    this.#db.write(
      "insert into webhook values (?, ?) on conflict (id) do update set record = excluded.record",
      webhook.id,
      JSON.stringify(webhook),
    );
    this.#webhooks.set(webhook.id, webhook);
    return webhook;
  }
}
