import { useMemo } from "react";
import type { TroupeClient } from "../client/teams/client.ts";
import {
  CONNECTING_INBOX,
  type InboxState,
  InboxStore,
  type InboxStoreOptions,
} from "../client/stores/inbox-store.ts";
import { useTroupe } from "./provider.ts";
import { storeOf, useShared } from "./shared-stores.ts";

export interface UseInboxOptions extends InboxStoreOptions {
  /** Default: the client of the `TroupeProvider`. */
  client?: TroupeClient | undefined;
}

/** Open questions, and functions to answer them. The functions stay the same between renders. */
export interface Inbox extends InboxState, Pick<InboxStore, "answer" | "loadMore" | "reload"> {}

/**
 * Shows the open questions to humans over all teams. All components with the same `kind`, `team` and client share one connection.
 *
 * @param options `pageSize` and `background` of the component that connects apply
 * @example
 * const { requests, answer } = useInbox({ kind: "approval" });
 */
export function useInbox({
  client: own,
  kind,
  team,
  order,
  pageSize,
  background,
}: UseInboxOptions = {}): Inbox {
  const client = useTroupe(own);
  const displayed = useMemo(
    () => ({
      client,
      key: `inbox ${kind ?? ""} ${team ?? ""} ${order ?? ""}`,
      make: () => new InboxStore(client, { kind, team, order, pageSize, background }),
      initial: CONNECTING_INBOX,
    }),
    [client, kind, team, order, pageSize, background],
  );
  const state = useShared(displayed);
  const actions = useMemo(() => {
    const store = (): InboxStore => storeOf(displayed);
    return {
      answer: (...args) => store().answer(...args),
      loadMore: () => store().loadMore(),
      reload: () => store().reload(),
    } satisfies Omit<Inbox, keyof InboxState>;
  }, [displayed]);
  return useMemo(() => ({ ...state, ...actions }), [state, actions]);
}
