import type { TriggerKind } from "../../contract/constants.ts";
import { equalInConstantTime } from "../../core/equal.ts";
import { sha256Hex } from "../../core/hash.ts";

/** A signature with a time is refused when that time is further away, in seconds. */
const TOLERANCE_SECONDS = 300;
/** The most signatures of one header that are compared. */
const MOST_SIGNATURES = 10;

/** A request before it is believed. */
export interface SignedEvent {
  headers: Headers;
  body: Uint8Array<ArrayBuffer>;
}

type Verify = (event: SignedEvent, secret: string, now: number) => Promise<boolean>;

const encoder = new TextEncoder();

/** The signatures of each kind of sender. */
const VERIFY: Readonly<Record<TriggerKind, Verify>> = {
  /** `X-Hub-Signature-256`: HMAC of the body. It has no time. */
  async github({ headers, body }, secret) {
    const [, hex = ""] =
      /^sha256=([0-9a-f]{64})$/i.exec(headers.get("x-hub-signature-256") ?? "") ?? [];
    return isHmac(secret, hex, body);
  },

  /** `Stripe-Signature: t=…,v1=…`: HMAC of the time, a point and the body. */
  async stripe({ headers, body }, secret, now) {
    const fields = (headers.get("stripe-signature") ?? "").split(",").map((field) => field.trim());
    const valueOf = (name: string): string[] =>
      fields
        .filter((field) => field.startsWith(`${name}=`))
        .map((field) => field.slice(name.length + 1));
    const [time = ""] = valueOf("t");
    if (!isRecent(time, now)) return false;
    const signed = joined(`${time}.`, body);
    const found = valueOf("v1").slice(0, MOST_SIGNATURES);
    return any(found, (hex) => isHmac(secret, hex, signed));
  },

  /** `X-Slack-Signature: v0=…`: HMAC of the version, the time and the body. */
  async slack({ headers, body }, secret, now) {
    const time = headers.get("x-slack-request-timestamp") ?? "";
    const [, hex = ""] = /^v0=([0-9a-f]{64})$/i.exec(headers.get("x-slack-signature") ?? "") ?? [];
    return isRecent(time, now) && isHmac(secret, hex, joined(`v0:${time}:`, body));
  },

  async standard({ headers, body }, secret) {
    const { isStandardSignature } = await import("./standard-signature.ts");
    return isStandardSignature(secret, headers, new TextDecoder().decode(body));
  },

  /** The secret itself. */
  async plain({ headers }, secret) {
    const [, given = ""] = /^bearer +(\S+)$/i.exec(headers.get("authorization") ?? "") ?? [];
    return equalInConstantTime(await sha256Hex(given), await sha256Hex(secret));
  },

  /** It comes by e-mail only. */
  email: () => Promise.resolve(false),
};

/** True if one of the secrets has signed the event, not long ago. */
export function isSigned(
  kind: TriggerKind,
  event: SignedEvent,
  secrets: readonly string[],
  now: number,
): Promise<boolean> {
  return any(secrets, (secret) => VERIFY[kind](event, secret, now));
}

function isRecent(seconds: string, now: number): boolean {
  return /^\d{1,12}$/.test(seconds) && Math.abs(now / 1000 - Number(seconds)) <= TOLERANCE_SECONDS;
}

function joined(text: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const beginning = encoder.encode(text);
  const bytes = new Uint8Array(beginning.length + body.length);
  bytes.set(beginning);
  bytes.set(body, beginning.length);
  return bytes;
}

/** Compares in constant time. @param hex what should be the HMAC-SHA-256 of the data */
async function isHmac(
  secret: string,
  hex: string,
  data: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  if (!/^[0-9a-f]{64}$/i.test(hex)) return false;
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const raw = encoder.encode(secret);
  const key = await crypto.subtle.importKey("raw", raw, algorithm, false, ["verify"]);
  const signature = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return crypto.subtle.verify("HMAC", key, signature, data);
}

async function any<T>(items: readonly T[], holds: (item: T) => Promise<boolean>): Promise<boolean> {
  for (const item of items) if (await holds(item)) return true;
  return false;
}
