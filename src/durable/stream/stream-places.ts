import { waitUntil } from "cloudflare:workers";
import type { Refused } from "../../contract/result.ts";

/** Who a stream is opened for. */
export interface StreamClient {
  credential: string;
  /** Names the stream where its client is reported to have left. */
  stream: string;
}

/** Open streams by the credential that opened them. */
export interface StreamPlaces {
  streamsOf(credential: string): number;
  /** Closes the oldest stream of a credential. @returns whether it had one */
  closeOldest(credential: string): boolean;
}

/**
 * Reports that the client of a stream has left: the runtime tells the object only when it writes the next time.
 *
 * @param signal aborted when the client has left
 * @param end tells the object
 */
export function whenLeft(signal: AbortSignal | undefined, end: () => Promise<void>): void {
  signal?.addEventListener("abort", () => waitUntil(end().catch(() => undefined)), { once: true });
}

/**
 * A stream as the Worker sends it. Where a Worker answers with the body of an object as it is, the runtime is done with the
 * request at once, and its signal is never aborted.
 */
export function throughWorker(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  return body.pipeThrough(new IdentityTransformStream());
}

/**
 * Makes a place for one more stream of a credential. A credential that has all of its places gives up its oldest stream, which
 * may be one whose client has left without a word; so does one that meets the limit of the team or of the tenant.
 *
 * @param most streams of one credential
 * @param refuse asks whether one more stream may be opened
 */
export async function makePlace(
  places: StreamPlaces,
  credential: string,
  most: number,
  refuse: () => Promise<Refused | undefined> | Refused | undefined,
): Promise<Refused | undefined> {
  while (places.streamsOf(credential) >= Math.max(1, most)) places.closeOldest(credential);
  const refused = await refuse();
  if (refused?.problem.code !== "too_many_streams") return refused;
  return places.closeOldest(credential) ? refuse() : refused;
}
