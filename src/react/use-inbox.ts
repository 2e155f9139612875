import { useMemo } from "react";
import type { TroupeClient } from "../client/client.ts";
import {
  CONNECTING_INBOX,
  type InboxState,
  InboxStore,
  type InboxStoreOptions,
} from "../client/inbox-store.ts";
import { useTroupe } from "./provider.ts";
import { storeOf, useShared } from "./shared-stores.ts";

export interface UseInboxOptions extends InboxStoreOptions {
  /** Default: the client of the `TroupeProvider`. */
  client?: TroupeClient | undefined;
}

/** Open questions and what can be done with them. The functions stay the same from one rendering to the next. */
export interface Inbox extends InboxState, Pick<InboxStore, "answer" | "loadMore" | "reload"> {}

/**
 * Shows the open questions to humans over all teams. All components with the same `kind` and client share one connection.
 *
 * @param options `pageSize` and `background` count for the component that connects
 * @example
 * const { requests, answer } = useInbox({ kind: "approval" });
 */
export function useInbox({ client: own, kind, pageSize, background }: UseInboxOptions = {}): Inbox {
  const client = useTroupe(own);
  const shown = useMemo(
    () => ({
      client,
      key: `inbox ${kind ?? ""}`,
      make: () => new InboxStore(client, { kind, pageSize, background }),
      initial: CONNECTING_INBOX,
    }),
    [client, kind, pageSize, background],
  );
  const state = useShared(shown);
  const actions = useMemo(() => {
    const store = (): InboxStore => storeOf(shown);
    return {
      answer: (...args) => store().answer(...args),
      loadMore: () => store().loadMore(),
      reload: () => store().reload(),
    } satisfies Omit<Inbox, keyof InboxState>;
  }, [shown]);
  return useMemo(() => ({ ...state, ...actions }), [state, actions]);
}
