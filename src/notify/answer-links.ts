import { fromBase64Url, toBase64Url } from "../core/base64.ts";
import { equalInConstantTime } from "../core/equal.ts";
import { sha256Hex } from "../core/hash.ts";
import { HmacKey } from "../secrets/hmac-key.ts";

/** The one request that a link may answer, and the id of the link. */
export interface LinkedRequest {
  tenant: string;
  team: string;
  run: string;
  request: string;
  /** Names the link in the list of the team's tokens. */
  id: string;
}

const SEPARATOR = "\n";

/**
 * Makes and reads the secrets of links that answer: `{what it is for}.{mac}`, both base64url. The key is derived from `SECRETS_KEY`, so
 * that each attempt of a delivery has the same link, and nothing but its hash is stored.
 */
export class AnswerLinks {
  readonly #key: HmacKey;

  /** @param secret the bytes of SECRETS_KEY */
  constructor(secret: Uint8Array<ArrayBuffer>) {
    this.#key = new HmacKey(secret, "troupe links that answer 1");
  }

  async ticket({ tenant, team, run, request, id }: LinkedRequest): Promise<string> {
    const named = [tenant, team, run, request, id].join(SEPARATOR);
    const payload = toBase64Url(new TextEncoder().encode(named));
    return `${payload}.${await this.#mac(payload)}`;
  }

  /** Undefined for a text that this deployment has not made. */
  async read(ticket: string): Promise<LinkedRequest | undefined> {
    const [payload = "", mac = "", ...more] = ticket.split(".");
    if (more.length > 0 || !equalInConstantTime(mac, await this.#mac(payload))) return undefined;
    const named = new TextDecoder().decode(fromBase64Url(payload)).split(SEPARATOR);
    const [tenant = "", team = "", run = "", request = "", id = ""] = named;
    return { tenant, team, run, request, id };
  }

  async #mac(payload: string): Promise<string> {
    return toBase64Url(await this.#key.mac(payload));
  }
}

/** The stored form of a link's secret. */
export function hashOfTicket(ticket: string): Promise<string> {
  return sha256Hex(ticket);
}

/** The page of a link. */
export function answerUrl(base: string, ticket: string): string {
  return `${base}/v1/answer?ticket=${ticket}`;
}
