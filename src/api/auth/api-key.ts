import { equalInConstantTime } from "../../core/equal.ts";
import { bytesToBase62, crc32, randomBase62, toBase62 } from "./bytes.ts";
import { HmacKey } from "../../secrets/hmac-key.ts";

/** Base-62 digits: 71 bits of id, so that ids never collide. */
const ID_LENGTH = 12;
/** 190 bits of secret beside a MAC, 256 bits without one. */
const SIGNED_SECRET_LENGTH = 32;
const SECRET_LENGTH = 43;
/** The length of the name of the signer's secret, and of a MAC of 128 bits. */
const SIGNER_LENGTH = 4;
const MAC_LENGTH = 22;

/** The beginning of every created key. */
export const KEY_PREFIX = "trp_";
const KEY =
  /^trp_([a-z0-9-]{1,63})_([0-9A-Za-z]{12})_([0-9A-Za-z]{43}|[0-9A-Za-z]{58})([0-9A-Za-z]{6})$/;

/** A key made by `POST /v1/keys`; the tenant in it finds the tenant's object without a table of all keys. */
export interface ApiKey {
  tenant: string;
  id: string;
}

/** The validity of a key's signature. `unknown`: another secret has signed it, or none. */
export type KeyOrigin = "genuine" | "forged" | "unknown";

/** A key as it was sent. */
export interface ParsedApiKey extends ApiKey {
  /** The signed text, its signer and its MAC; undefined for a key of a deployment without a signer. */
  signed?: { text: string; signer: string; mac: string };
}

/**
 * Signs the keys that a deployment makes, so that one that it did not make is refused before any object is asked. Each key
 * names the secret that it was signed with: one of an earlier secret is not a forgery, and only its tenant knows it.
 */
export class KeySigner {
  readonly #key: HmacKey;
  #name: Promise<string> | undefined;

  /** @param secret 32 bytes: those of CREATED_KEYS_SECRET or of SECRETS_KEY */
  constructor(secret: Uint8Array<ArrayBuffer>) {
    this.#key = new HmacKey(secret, "troupe created keys 1");
  }

  /** The text with the signer's name and its MAC. */
  async sign(text: string): Promise<string> {
    const named = text + (await this.#signer());
    return named + (await this.#mac(named));
  }

  async originOf({ signed }: ParsedApiKey): Promise<KeyOrigin> {
    if (signed?.signer !== (await this.#signer())) return "unknown";
    return equalInConstantTime(signed.mac, await this.#mac(signed.text)) ? "genuine" : "forged";
  }

  #signer(): Promise<string> {
    this.#name ??= this.#digits("the name of this secret", SIGNER_LENGTH);
    return this.#name;
  }

  #mac(named: string): Promise<string> {
    return this.#digits(`key ${named}`, MAC_LENGTH);
  }

  async #digits(text: string, length: number): Promise<string> {
    const mac = await this.#key.mac(text);
    return bytesToBase62(mac.subarray(0, 16)).slice(-length);
  }
}

/**
 * A new key, `trp_{tenant}_{id}_{secret}` with a checksum at its end, so that secret scanners can recognize
 * it. With a signer the secret ends with its name and a MAC.
 */
export async function createApiKey(
  tenant: string,
  signer?: KeySigner,
): Promise<ApiKey & { key: string }> {
  const id = randomBase62(ID_LENGTH);
  const start = `trp_${tenant}_${id}_`;
  const text =
    signer === undefined
      ? start + randomBase62(SECRET_LENGTH)
      : await signer.sign(start + randomBase62(SIGNED_SECRET_LENGTH));
  return { tenant, id, key: text + checksum(text) };
}

/** Parses a key; undefined for anything else, mistyped keys included. */
export function parseApiKey(text: string): ParsedApiKey | undefined {
  const [, tenant, id, secret] = KEY.exec(text) ?? [];
  if (tenant === undefined || id === undefined || secret === undefined) return undefined;
  const checked = text.slice(0, -6);
  if (!text.endsWith(checksum(checked))) return undefined;
  if (secret.length === SECRET_LENGTH) return { tenant, id };
  const named = checked.slice(0, -MAC_LENGTH);
  const mac = checked.slice(-MAC_LENGTH);
  return { tenant, id, signed: { text: named, signer: named.slice(-SIGNER_LENGTH), mac } };
}

function checksum(text: string): string {
  return toBase62(crc32(text));
}
