import { hash64 } from "../../core/hash.ts";

/** Ids are hashes of a span's identity, so a turn that runs again has the same spans. */
export const spanIds = {
  run: (run: string): string => hash64(run),
  queue: (run: string): string => hash64(`${run}?queue`),
  /** @param at the restart, epoch milliseconds */
  recovery: (run: string, at: number): string => hash64(`${run}!${at}`),
  /** @param turn its number in the run */
  turn: (run: string, turn: number): string => hash64(`${run}/${turn}`),
  /** @param path the path of an agent, step or wait below the turn */
  inTurn: (run: string, turn: number, path: string): string => hash64(`${run}/${turn}/${path}`),
  attempt: (run: string, turn: number, path: string, attempt: number): string =>
    hash64(`${run}/${turn}/${path}#${attempt}`),
  /** @param attempt the one that failed before the wait */
  backoff: (run: string, turn: number, path: string, attempt: number): string =>
    hash64(`${run}/${turn}/${path}%${attempt}`),
  /** @param delivery its id @param attempt at it, from 1 */
  delivery: (delivery: string, attempt: number): string => hash64(`${delivery}#${attempt}`),
};
