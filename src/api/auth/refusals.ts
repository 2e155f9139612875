import type { Refusal } from "./principal.ts";

/** Addresses that are kept. Above this number the one with the oldest request is removed. */
const MOST_ADDRESSES = 10_000;

const MINUTE = 60_000;

/** Allows each address a number of things in a minute, in this isolate. */
export class AddressBudget {
  readonly #perMinute: number;
  readonly #buckets = new Map<string, { left: number; at: number }>();

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** True if the address had a refusal left. */
  take(address: string, now: number): boolean {
    const bucket = this.#buckets.get(address) ?? { left: this.#perMinute, at: now };
    bucket.left += ((now - bucket.at) / MINUTE) * this.#perMinute;
    bucket.left = Math.min(this.#perMinute, bucket.left);
    bucket.at = now;
    // It becomes the last of the map, whose first is the address with the oldest request.
    this.#buckets.delete(address);
    this.#buckets.set(address, bucket);
    if (this.#buckets.size > MOST_ADDRESSES) {
      const [oldest] = this.#buckets.keys();
      if (oldest !== undefined) this.#buckets.delete(oldest);
    }
    if (bucket.left < 1) return false;
    bucket.left -= 1;
    return true;
  }

  /** Gives back what {@link take} has counted. */
  giveBack(address: string): void {
    const bucket = this.#buckets.get(address);
    if (bucket) bucket.left = Math.min(this.#perMinute, bucket.left + 1);
  }

  /** Seconds until the address has one again. */
  get pause(): number {
    return Math.max(1, Math.ceil(MINUTE / 1000 / Math.max(1, this.#perMinute)));
  }
}

/** The address that a request comes from, as Cloudflare and `npm start` say; of IPv6 the network, which one client has all of. */
export function addressOf(request: Request): string {
  const address = request.headers.get("cf-connecting-ip") ?? "";
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped?.[1] !== undefined) return mapped[1];
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0");
  return [...before, ...zeros, ...after].slice(0, 4).join(":");
}

/** The refusal of an address that has sent too many invalid credentials. */
export function tooManyRefusals(limit: string, value: number, retry_after: number): Refusal {
  return {
    problem: {
      status: 429,
      code: "too_many_refusals",
      detail: `Too many requests from this address had no valid credential: the limit ${limit} is ${value}. Try again in ${retry_after} s.`,
      retry_after,
      extra: { limit, value, window: 60 },
    },
  };
}
