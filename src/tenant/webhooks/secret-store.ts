import { toBase64 } from "../../core/base64.ts";
import type { Sealer, UnreadableWords } from "../../secrets/sealer.ts";
import type { Database } from "../../sqlite/database.ts";

/** The time for which the previous secret stays valid after a rotation, milliseconds. */
const OVERLAP_MS = 86_400_000;

/** Each valid secret adds a signature to every delivery. */
const MOST_SECRETS = 3;

const SECRET_BYTES = 32;

interface StoredSecret {
  sealed: string;
  /** Epoch milliseconds; null: valid until it is rotated. */
  until: number | null;
}

/**
 * Creates a secret, both in plain text and sealed for storage. @throws TroupeError `secrets_not_configured` without a
 * valid SECRETS_KEY
 */
export async function newSecret(sealer: Sealer): Promise<{ plain: string; sealed: string }> {
  const plain = `whsec_${toBase64(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))}`;
  return { plain, sealed: await sealer.seal(plain) };
}

/** The secrets that sign deliveries, sealed with SECRETS_KEY. */
export class SecretStore {
  readonly #db: Database;
  readonly #sealer: Sealer;
  readonly #wordsOf: (webhook: string) => UnreadableWords;
  /** Opened secrets, cached: opening one takes a moment, and signing happens often. */
  readonly #opened = new Map<string, string>();

  /** @param wordsOf the words for a secret that cannot be read, by the id of its webhook */
  constructor(db: Database, sealer: Sealer, wordsOf = ofWebhook) {
    this.#db = db;
    this.#sealer = sealer;
    this.#wordsOf = wordsOf;
  }

  has(webhook: string): boolean {
    return this.#read(webhook).length > 0;
  }

  /** Creates the first secret of the webhook, unless it has one. @throws TroupeError `secrets_not_configured` */
  async ensure(webhook: string): Promise<void> {
    if (this.has(webhook)) return;
    const { sealed } = await newSecret(this.#sealer);
    if (!this.has(webhook)) this.add(webhook, sealed, Date.now());
  }

  /** The newest secret. @throws TroupeError `secrets_unreadable` */
  newest(webhook: string): Promise<string> {
    const [stored] = this.#read(webhook);
    if (stored === undefined) throw new TypeError("the webhook has no secret");
    return this.#open(stored.sealed, this.#wordsOf(webhook));
  }

  /** When the previous secret expires, epoch milliseconds; null without one. */
  previousUntil(webhook: string, now: number): number | null {
    return valid(this.#read(webhook), now)[1]?.until ?? null;
  }

  /**
   * The secrets that sign at this time, newest first. An older secret that can no longer be read is left out.
   *
   * @throws TroupeError `secrets_unreadable`
   */
  async signing(webhook: string, now: number): Promise<string[]> {
    const [newest, ...before] = valid(this.#read(webhook), now);
    if (newest === undefined) return [];
    const words = this.#wordsOf(webhook);
    const opened = await Promise.allSettled(before.map(({ sealed }) => this.#open(sealed, words)));
    return [
      await this.#open(newest.sealed, words),
      ...opened.flatMap((one) => (one.status === "fulfilled" ? [one.value] : [])),
    ];
  }

  /** Stores the first secret of a webhook, or a new one; the previous secret stays valid for a day. */
  add(webhook: string, sealed: string, now: number): void {
    const before = valid(this.#read(webhook), now).map((one) => ({
      ...one,
      until: one.until ?? now + OVERLAP_MS,
    }));
    const secrets: StoredSecret[] = [{ sealed, until: null }, ...before].slice(0, MOST_SECRETS);
    this.#db.write(
      "insert into webhook_secret values (?, ?) on conflict (webhook) do update set secrets = excluded.secrets",
      webhook,
      JSON.stringify(secrets),
    );
  }

  remove(webhook: string): void {
    this.#db.write("delete from webhook_secret where webhook = ?", webhook);
  }

  /** The secret, or the headers, of the webhook of one run. @throws TroupeError `secrets_unreadable` */
  ofRun(sealed: string): Promise<string> {
    return this.#open(sealed, OF_RUN);
  }

  async #open(sealed: string, words: UnreadableWords): Promise<string> {
    const existing = this.#opened.get(sealed);
    if (existing !== undefined) return existing;
    const plain = await this.#sealer.read(sealed, words);
    // Secrets of runs are not cached, because runs come and go.
    if (this.#opened.size >= 1_000) this.#opened.clear();
    this.#opened.set(sealed, plain);
    return plain;
  }

  #read(webhook: string): StoredSecret[] {
    const row = this.#db.first<{ secrets: string }>(
      "select secrets from webhook_secret where webhook = ?",
      webhook,
    );
    return row === undefined ? [] : (JSON.parse(row.secrets) as StoredSecret[]);
  }
}

const OF_RUN: UnreadableWords = {
  what: "The secret of the run's webhook",
  remedy: "start another run with the webhook",
};

function ofWebhook(id: string): UnreadableWords {
  return {
    what: `The secret of the webhook ${JSON.stringify(id)}`,
    remedy: `rotate it (POST /v1/webhooks/${id}/rotate_secret) and give the new one to the receiver`,
  };
}

function valid(secrets: readonly StoredSecret[], now: number): StoredSecret[] {
  return secrets.filter(({ until }) => until === null || until > now);
}
