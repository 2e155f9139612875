import { useCallback, useSyncExternalStore } from "react";
import type { TroupeClient } from "../client/client.ts";
import type { Store } from "../client/store.ts";

/** The stores that components show now. */
const mounted = new WeakMap<TroupeClient, Map<string, Store<object>>>();

/** What a component shows of a client. */
export interface Shown<State extends object, Shows extends Store<State>> {
  client: TroupeClient;
  /** The same for whatever is shown by the same store. */
  key: string;
  make: () => Shows;
  /** The state without a store. */
  initial: State;
}

/** The store of the components that show this; without any, one that is not connected, for a single call. */
export function storeOf<State extends object, Shows extends Store<State>>({
  client,
  key,
  make,
}: Shown<State, Shows>): Shows {
  return (mounted.get(client)?.get(key) as Shows | undefined) ?? make();
}

/**
 * The state of the store that is shared by all components that show this. The first one connects it, the last one
 * disconnects it. On a server, and while a page hydrates, it is the initial one.
 *
 * @param shown made anew only when it is something else
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
    // StrictMode, and a list that is built anew, leave and come back at once: they keep the connection.
    const release = store.subscribe(() => undefined);
    leave();
    setTimeout(() => {
      release();
      if (store.subscribers === 0) stores.delete(key);
    }, 0);
  };
}
