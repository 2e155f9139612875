import { useMemo } from "react";
import type { TroupeClient } from "../client/client.ts";
import { CONNECTING, type TeamState } from "../client/team-state.ts";
import { TeamStore, type TeamStoreOptions } from "../client/team-store.ts";
import { useTroupe } from "./provider.ts";
import { storeOf, useShared } from "./shared-stores.ts";

export interface UseTeamOptions extends TeamStoreOptions {
  /** Default: the client of the `TroupeProvider`. */
  client?: TroupeClient | undefined;
}

/** A team and what can be done with it. The functions stay the same from one rendering to the next. */
export interface TeamView
  extends
    TeamState,
    Pick<
      TeamStore,
      "send" | "answer" | "stop" | "pause" | "resume" | "retry" | "loadEarlier" | "reload"
    > {}

/**
 * Shows a team: its messages, text in progress, status and open questions, also of runs that were started elsewhere. All
 * components with the same id and client share one connection, which ends with the last of them.
 *
 * @param options `pageSize` and `background` count for the component that connects
 * @example
 * const { messages, texts, status, send } = useTeam("support");
 */
export function useTeam(
  id: string,
  { client: own, pageSize, background }: UseTeamOptions = {},
): TeamView {
  const client = useTroupe(own);
  const shown = useMemo(
    () => ({
      client,
      key: `team ${id}`,
      make: () => new TeamStore(client.team(id), { pageSize, background }),
      initial: CONNECTING,
    }),
    [client, id, pageSize, background],
  );
  const state = useShared(shown);
  const actions = useMemo(() => {
    const store = (): TeamStore => storeOf(shown);
    return {
      send: (...args) => store().send(...args),
      answer: (...args) => store().answer(...args),
      stop: (...args) => store().stop(...args),
      pause: () => store().pause(),
      resume: () => store().resume(),
      retry: () => store().retry(),
      loadEarlier: () => store().loadEarlier(),
      reload: () => store().reload(),
    } satisfies Omit<TeamView, keyof TeamState>;
  }, [shown]);
  return useMemo(() => ({ ...state, ...actions }), [state, actions]);
}
