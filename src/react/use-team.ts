import { useMemo } from "react";
import type { TroupeClient } from "../client/teams/client.ts";
import { CONNECTING, type TeamState } from "../client/stores/team-state.ts";
import { TeamStore, type TeamStoreOptions } from "../client/stores/team-store.ts";
import { useTroupe } from "./provider.ts";
import { storeOf, useShared } from "./shared-stores.ts";

export interface UseTeamOptions extends TeamStoreOptions {
  /** Default: the client of the `TroupeProvider`. */
  client?: TroupeClient | undefined;
}

/** A team, and functions to use it. The functions stay the same between renders. */
export interface TeamView
  extends
    TeamState,
    Pick<
      TeamStore,
      | "send"
      | "steer"
      | "answer"
      | "stop"
      | "pause"
      | "resume"
      | "retry"
      | "loadEarlier"
      | "loadBackTo"
      | "reload"
    > {}

/**
 * Shows a team: its messages, texts in progress, status and open questions, also for runs that were started elsewhere. All
 * components with the same id and client share one connection, which closes with the last of them.
 *
 * @param options `pageSize` and `background` of the component that connects apply
 * @example
 * const { messages, texts, status, send } = useTeam("support");
 */
export function useTeam(
  id: string,
  { client: own, pageSize, background }: UseTeamOptions = {},
): TeamView {
  const client = useTroupe(own);
  const displayed = useMemo(
    () => ({
      client,
      key: `team ${id}`,
      make: () => new TeamStore(client.team(id), { pageSize, background }),
      initial: CONNECTING,
    }),
    [client, id, pageSize, background],
  );
  const state = useShared(displayed);
  const actions = useMemo(() => {
    const store = (): TeamStore => storeOf(displayed);
    return {
      send: (...args) => store().send(...args),
      steer: (...args) => store().steer(...args),
      answer: (...args) => store().answer(...args),
      stop: (...args) => store().stop(...args),
      pause: () => store().pause(),
      resume: () => store().resume(),
      retry: () => store().retry(),
      loadEarlier: () => store().loadEarlier(),
      loadBackTo: (seq) => store().loadBackTo(seq),
      reload: () => store().reload(),
    } satisfies Omit<TeamView, keyof TeamState>;
  }, [displayed]);
  return useMemo(() => ({ ...state, ...actions }), [state, actions]);
}
