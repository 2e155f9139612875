import { useEffect, useRef } from "react";
import type { DirectoryChange, TroupeClient } from "troupe/client";
import { useTroupe } from "troupe/react";

type Kind = DirectoryChange["kind"];
/** Called with null when the connection opens: changes may have been missed. */
type Listener = (kind: Kind | null) => void;

/** Changes of busy teams are shown together. */
const TOGETHER_MS = 500;

/** The stream of changes over all teams, which all lists of the page share: a browser has few connections to a server. */
class ChangeFeed {
  readonly #client: TroupeClient;
  readonly #listeners = new Set<Listener>();
  #left: AbortController | undefined;

  constructor(client: TroupeClient) {
    this.#client = client;
  }

  add(listener: Listener): () => void {
    this.#listeners.add(listener);
    if (this.#left === undefined) this.#start();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#left?.abort();
      this.#left = undefined;
    };
  }

  #start(): void {
    const left = new AbortController();
    this.#left = left;
    const tell: Listener = (kind) => {
      for (const listener of this.#listeners) listener(kind);
    };
    const follow = async (): Promise<void> => {
      const changes = this.#client.events({
        signal: left.signal,
        patienceMs: Infinity,
        background: false,
        onConnection: (state) => {
          if (state === "open") tell(null);
        },
      });
      for await (const { kind } of changes) tell(kind);
    };
    // A list that cannot be loaded shows the reason.
    follow().catch(() => undefined);
  }
}

const feeds = new WeakMap<TroupeClient, ChangeFeed>();

/** Calls `reload` soon after changes of these kinds. @param kinds a constant @param reload the same function in each render */
export function useChanges(kinds: readonly Kind[], reload: () => void): void {
  const client = useTroupe();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    const feed = feeds.get(client) ?? new ChangeFeed(client);
    feeds.set(client, feed);
    const remove = feed.add((kind) => {
      if (kind !== null && !kinds.includes(kind)) return;
      timer.current ??= setTimeout(() => {
        timer.current = undefined;
        reload();
      }, TOGETHER_MS);
    });
    return () => {
      remove();
      clearTimeout(timer.current);
      timer.current = undefined;
    };
  }, [client, kinds, reload]);
}
