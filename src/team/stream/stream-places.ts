import type { LoginSight } from "../../contract/gateways/login-sight.ts";
import type { Refused } from "../../contract/result.ts";

/** The client for which a stream is opened. */
export interface StreamClient {
  credential: string;
  /** Identifies the stream when its client is reported as disconnected. */
  stream: string;
  /** The logins whose addresses it may be given. Left out, none. */
  sees?: LoginSight | undefined;
}

/** The client of a stream over a socket. */
export interface Watcher extends StreamClient {
  /** Id of the run that it watches; null for all runs of the team. */
  run: string | null;
}

/** A watcher, as its Worker asks for the socket. */
export interface WatcherCall extends Watcher {
  /** The stream that the socket continues with, which its object has ended because the run waits. */
  continues: string | undefined;
}

/** The time for which the streams of a run that waits for a human hold an object, in milliseconds. */
export const IDLE_MS = 15_000;

/** Open streams by the credential that opened them. */
export interface StreamPlaces {
  streamsOf(credential: string): number;
  /** Closes the oldest stream of a credential. @returns whether it had one */
  closeOldest(credential: string): boolean;
}

/**
 * Makes room for one more stream of a credential. A credential at its limit gives up its oldest stream, whose client
 * may have disconnected unnoticed. The same happens at the limit of the team or of the tenant. A request that is refused
 * for another reason closes no stream.
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
  let refused = await refuse();
  if (refused?.problem.code === "too_many_streams" && places.closeOldest(credential)) {
    refused = await refuse();
  }
  if (refused) return refused;
  while (places.streamsOf(credential) >= Math.max(1, most)) places.closeOldest(credential);
  return undefined;
}
