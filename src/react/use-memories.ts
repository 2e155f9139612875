import { useMemo } from "react";
import type { TroupeClient } from "../client/teams/client.ts";
import {
  CONNECTING_MEMORIES,
  type MemoriesState,
  MemoriesStore,
  type MemoriesStoreOptions,
} from "../client/stores/memories-store.ts";
import { useTroupe } from "./provider.ts";
import { storeOf, useShared } from "./shared-stores.ts";

export interface UseMemoriesOptions extends MemoriesStoreOptions {
  /** Default: the client of the `TroupeProvider`. */
  client?: TroupeClient | undefined;
}

/** The memories, and functions to change them. The functions stay the same between renders. */
export interface Memories
  extends MemoriesState, Pick<MemoriesStore, "add" | "change" | "forget" | "loadMore" | "reload"> {}

/**
 * Shows what is remembered of a team, a user or the tenant, for people to correct and take back. It is loaded again after each
 * change made here, and by `reload`.
 *
 * @example
 * const { memories, forget } = useMemories({ scope: "user" });
 */
export function useMemories({
  client: own,
  scope,
  team,
  user,
  q,
  pageSize,
}: UseMemoriesOptions): Memories {
  const client = useTroupe(own);
  const displayed = useMemo(
    () => ({
      client,
      key: `memories ${JSON.stringify([scope, team, user, q])}`,
      make: () => new MemoriesStore(client, { scope, team, user, q, pageSize }),
      initial: CONNECTING_MEMORIES,
    }),
    [client, scope, team, user, q, pageSize],
  );
  const state = useShared(displayed);
  const actions = useMemo(() => {
    const store = (): MemoriesStore => storeOf(displayed);
    return {
      add: (...args) => store().add(...args),
      change: (...args) => store().change(...args),
      forget: (...args) => store().forget(...args),
      loadMore: () => store().loadMore(),
      reload: () => store().reload(),
    } satisfies Omit<Memories, keyof MemoriesState>;
  }, [displayed]);
  return useMemo(() => ({ ...state, ...actions }), [state, actions]);
}
