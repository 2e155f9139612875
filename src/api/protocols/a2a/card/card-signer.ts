import canonicalize from "canonicalize";
import type { CardKey } from "./card-key.ts";
import { calculateJwkThumbprint, FlattenedSign, importJWK } from "./jose.ts";

/** One signature of a card: a JWS without its payload, which is the card. */
export interface CardSignature {
  protected: string;
  signature: string;
}

/** The public half of the key, as a JWK. */
export interface PublicKey {
  kty: string;
  crv: string;
  x: string;
  y?: string;
  kid: string;
  alg: string;
  use: "sig";
}

/** Signs agent cards: JWS (RFC 7515) over their canonical JSON (RFC 8785). */
export class CardSigner {
  readonly #key: CardKey;
  readonly #alg: "ES256" | "EdDSA";
  #imported: Promise<[kid: string, key: Awaited<ReturnType<typeof importJWK>>]> | undefined;

  constructor(key: CardKey) {
    this.#key = key;
    this.#alg = key.kty === "EC" ? "ES256" : "EdDSA";
  }

  /**
   * @param card without signatures. Must not have empty members: the canonical form leaves them out
   * @param jku where the public key is found
   */
  async sign(card: object, jku: string): Promise<CardSignature> {
    const [kid, key] = await this.#load();
    const jws = await new FlattenedSign(new TextEncoder().encode(canonicalize(card)))
      .setProtectedHeader({ alg: this.#alg, typ: "JOSE", kid, jku })
      .sign(key);
    return { protected: jws.protected ?? "", signature: jws.signature };
  }

  /** The key that verifies the signatures. */
  async publicKey(): Promise<PublicKey> {
    const { d: _secret, kid: _kid, ...key } = this.#key;
    const [kid] = await this.#load();
    return { ...key, kid, alg: this.#alg, use: "sig" };
  }

  #load() {
    this.#imported ??= (async () => {
      const { kid, ...key } = this.#key;
      return [kid ?? (await calculateJwkThumbprint(key)), await importJWK(key, this.#alg)];
    })();
    return this.#imported;
  }
}
