import { fromBase64, toBase64 } from "../core/base64.ts";
import { TroupeError, type TroupeErrorOptions } from "../core/errors.ts";
import { KEY_BYTES, secretsKeyBytes } from "./secrets-key.ts";

/** Version of the sealed form, then base64 of 12 bytes of nonce and the AES-GCM ciphertext. */
const SEALED = "sealed:1:";
const NONCE_BYTES = 12;

type SealingKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** The key that was imported last: each object of an isolate has sealers, and all of them the same setting. */
let imported: { setting: string | undefined; key: SealingKey } | undefined;

/** The words for data that cannot be read without the key that is lost. */
export interface UnreadableWords {
  /** Begins a sentence. */
  what: string;
  /** The advice if the key cannot be set again; ends a sentence. */
  remedy: string;
}

/** Encrypts texts for storage with the setting SECRETS_KEY (32 bytes as base64). */
export class Sealer {
  readonly #setting: string | undefined;

  /** @param setting without it nothing can be sealed */
  constructor(setting: string | undefined) {
    this.#setting = setting?.trim() || undefined;
  }

  /** True if there is a key, valid or not. */
  get configured(): boolean {
    return this.#setting !== undefined;
  }

  /** @throws TroupeError `secrets_not_configured` without a valid key */
  async seal(plain: string): Promise<string> {
    const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
    const text = new TextEncoder().encode(plain);
    const cipher = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, await this.#cipher(), text);
    return SEALED + toBase64(new Uint8Array([...iv, ...new Uint8Array(cipher)]));
  }

  /** As {@link open}. @throws TroupeError `secrets_unreadable`, with what it is and the way out beside the lost key */
  async read(sealed: string, words: UnreadableWords): Promise<string> {
    try {
      return await this.open(sealed);
    } catch (cause) {
      throw this.unreadable(words, { cause });
    }
  }

  /** The error of what this key does not open. */
  unreadable({ what, remedy }: UnreadableWords, details: TroupeErrorOptions): TroupeError {
    const state = this.configured ? "is not the one it was stored with" : "is not set";
    return new TroupeError(
      "secrets_unreadable",
      `${what} cannot be read: SECRETS_KEY ${state}. Set that key again, or ${remedy}.`,
      details,
    );
  }

  /** @throws unless the text was sealed with this key */
  async open(sealed: string): Promise<string> {
    if (!isSealed(sealed)) throw new TypeError("not in a form this version knows");
    const bytes = fromBase64(sealed.slice(SEALED.length));
    const iv = bytes.subarray(0, NONCE_BYTES);
    const cipher = bytes.subarray(NONCE_BYTES);
    const key = await this.#cipher();
    return new TextDecoder().decode(
      await crypto.subtle.decrypt({ name: "AES-GCM", iv }, key, cipher),
    );
  }

  async #cipher(): Promise<SealingKey> {
    const setting = this.#setting;
    if (imported !== undefined && imported.setting === setting) return imported.key;
    const key = await importKey(setting);
    imported = { setting, key };
    return key;
  }
}

async function importKey(setting: string | undefined): Promise<SealingKey> {
  const bytes = secretsKeyBytes(setting);
  if (bytes === undefined) {
    throw new TroupeError(
      "secrets_not_configured",
      setting === undefined
        ? "SECRETS_KEY is not set, so secrets cannot be stored."
        : `SECRETS_KEY must be ${KEY_BYTES} bytes as base64.`,
    );
  }
  return crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
}

export function isSealed(value: string): boolean {
  return value.startsWith(SEALED);
}
