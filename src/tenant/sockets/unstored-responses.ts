/** The responses that a socket remembers of each kind: its data have room for few. */
const MOST_REMEMBERED = 4;
/** Ended responses that are remembered for all sockets. */
const MOST_ENDED = 1_000;

/** The responses of a socket that its client does not want stored, as the socket's data have them. */
export interface UnstoredIds {
  /** Those that can be continued, on this socket alone. */
  open: readonly string[];
  /** Those whose continuation has failed. */
  failed: readonly string[];
}

export const NONE_UNSTORED: UnstoredIds = { open: [], failed: [] };

/** A response that has been made, or an attempt at one. */
export interface MadeResponse {
  /** Undefined for a request that was refused. */
  id: string | undefined;
  failed: boolean;
  /** The response that it continues. */
  previous: string | undefined;
  /** True if the client does not want it stored, and its model can do without. */
  unstored: boolean;
}

/** The ids of a socket after a response was made. */
export function afterResponse({ open, failed }: UnstoredIds, made: MadeResponse): UnstoredIds {
  const { id, previous } = made;
  const continues = previous !== undefined && open.includes(previous);
  if (made.failed || id === undefined) {
    if (!continues) return { open, failed };
    return { open: open.filter((one) => one !== previous), failed: latest(failed, previous) };
  }
  if (made.unstored) return { open: latest(open, id), failed };
  // A stored response keeps those that it continues.
  return { open: continues ? open.filter((one) => one !== previous) : open, failed };
}

function latest(ids: readonly string[], id: string): readonly string[] {
  return [...ids, id].slice(-MOST_REMEMBERED);
}

/** Responses that can no longer be continued, although their teams may still be there for a moment. */
export class EndedResponses {
  readonly #ids = new Set<string>();

  add(ids: readonly string[]): void {
    for (const id of ids) this.#ids.add(id);
    for (const id of this.#ids) {
      if (this.#ids.size <= MOST_ENDED) return;
      this.#ids.delete(id);
    }
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }
}
