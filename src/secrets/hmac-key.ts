const encoder = new TextEncoder();

type CryptoHmacKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** A key for MACs, derived from a secret (HKDF-SHA-256) for one purpose. */
export class HmacKey {
  readonly #secret: Uint8Array<ArrayBuffer>;
  readonly #purpose: string;
  #key: Promise<CryptoHmacKey> | undefined;

  constructor(secret: Uint8Array<ArrayBuffer>, purpose: string) {
    this.#secret = secret;
    this.#purpose = purpose;
  }

  /** HMAC-SHA-256. */
  async mac(text: string): Promise<Uint8Array> {
    this.#key ??= derived(this.#secret, this.#purpose);
    return new Uint8Array(await crypto.subtle.sign("HMAC", await this.#key, encoder.encode(text)));
  }
}

async function derived(secret: Uint8Array<ArrayBuffer>, purpose: string): Promise<CryptoHmacKey> {
  const base = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveKey"]);
  return crypto.subtle.deriveKey(
    { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: encoder.encode(purpose) },
    base,
    { name: "HMAC", hash: "SHA-256", length: 256 },
    false,
    ["sign"],
  );
}
