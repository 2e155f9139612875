import { useCallback, useSyncExternalStore } from "react";
import type { TroupeClient } from "../client/teams/client.ts";
import type { Store } from "../client/stores/store.ts";

/** The stores that components show now. */
const mounted = new WeakMap<TroupeClient, Map<string, Store<object>>>();

/** A store that a component shows. */
export interface Shown<State extends object, Shows extends Store<State>> {
  client: TroupeClient;
  /** Components with the same key share a store. */
  key: string;
  make: () => Shows;
  /** The state without a store. */
  initial: State;
}

/** The store that components share under this key. Without such components, a store for a single call that is not connected. */
export function storeOf<State extends object, Shows extends Store<State>>({
  client,
  key,
  make,
}: Shown<State, Shows>): Shows {
  return (mounted.get(client)?.get(key) as Shows | undefined) ?? make();
}

/**
 * The state of the store that all components with this key share. The first one connects it, the last one disconnects it. On
 * a server, and during hydration, it is the initial state.
 *
 * @param shown changes only with its key
 */
export function useShared<State extends object, Shows extends Store<State>>(
  shown: Shown<State, Shows>,
): State {
  const { client, key, initial } = shown;
  const subscribe = useCallback((listener: () => void) => enter(shown, listener), [shown]);
  const state = (): State => (mounted.get(client)?.get(key)?.state as State | undefined) ?? initial;
  return useSyncExternalStore(subscribe, state, () => initial);
}

function enter<State extends object>(
  shown: Shown<State, Store<State>>,
  listener: () => void,
): () => void {
  const { client, key } = shown;
  const store = storeOf(shown);
  const stores = mounted.get(client) ?? new Map<string, Store<object>>();
  mounted.set(client, stores.set(key, store));
  const leave = store.subscribe(listener);
  return () => {
    // StrictMode and rebuilt lists unmount and remount at once. They keep the connection.
    const release = store.subscribe(() => undefined);
    leave();
    setTimeout(() => {
      release();
      if (store.subscribers === 0) stores.delete(key);
    }, 0);
  };
}
