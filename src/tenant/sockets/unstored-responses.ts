/** The teams that a socket binds: as many as it has streams, which is what its data have room for. */
const MOST_OPEN = 8;
/** The failed ones that it remembers. */
const MOST_FAILED = 4;
/** Ended teams that are remembered for all sockets. */
const MOST_ENDED = 1_000;
/** The id of a response has its team, its run and, where it begins with answers, its cursor. */
const PARTS = /^(?:resp_|chatcmpl-)([^.]+)\.[^.]+(\.)?/;

/**
 * The responses of a socket that its client does not want stored, as the socket's data have them. They are bound by their team, which
 * is erased as a whole: it may have no response that is stored.
 */
export interface UnstoredIds {
  /** The latest response of each team without a stored one: they can be continued on this socket alone. */
  open: readonly string[];
  /** Responses whose continuation has failed. */
  failed: readonly string[];
}

export const NONE_UNSTORED: UnstoredIds = { open: [], failed: [] };

/** A response that begins. */
export interface BegunResponse {
  id: string;
  /** The response that it continues; null for none. */
  previous: string | null;
  /** True if the client does not want it stored, and its model can do without. */
  unstored: boolean;
  /** True if the client names the conversation that it belongs to. */
  joins: boolean;
}

/** The team of a response; undefined for an id of another form. */
export function teamIn(id: string): string | undefined {
  return PARTS.exec(id)?.[1];
}

/** True for a response of a team that the socket binds. */
export function isOpen({ open }: UnstoredIds, id: string): boolean {
  const team = teamIn(id);
  return open.some((one) => teamIn(one) === team);
}

/**
 * The ids of a socket when a response begins, and those that have no place any more.
 *
 * @param running the teams with a response that is being made, which keep their place
 */
export function withBegun(
  { open, failed }: UnstoredIds,
  { id, previous, unstored, joins }: BegunResponse,
  running: ReadonlySet<string>,
): { ids: UnstoredIds; dropped: readonly string[] } {
  const team = teamIn(id);
  const others = open.filter((one) => teamIn(one) !== team);
  const answers = PARTS.exec(id)?.[2] !== undefined;
  const isNew = !joins && !answers && (previous === null || teamIn(previous) !== team);
  const binds = unstored && (isNew || others.length < open.length);
  if (!binds) return { ids: { open: others, failed }, dropped: [] };
  const idle = others.filter((one) => !running.has(teamIn(one) ?? ""));
  const dropped = idle.slice(0, Math.max(0, others.length + 1 - MOST_OPEN));
  const kept = others.filter((one) => !dropped.includes(one));
  return { ids: { open: [...kept, id], failed }, dropped };
}

/** The ids of a socket after a response failed. @param previous the one that it was to continue */
export function withFailed({ open, failed }: UnstoredIds, previous: string): UnstoredIds {
  return { open, failed: [...failed, previous].slice(-MOST_FAILED) };
}

/** Teams whose responses can no longer be continued, although they may still be there for a moment. */
export class EndedTeams {
  readonly #teams = new Set<string>();

  add(team: string): void {
    this.#teams.add(team);
    for (const one of this.#teams) {
      if (this.#teams.size <= MOST_ENDED) return;
      this.#teams.delete(one);
    }
  }

  has(team: string): boolean {
    return this.#teams.has(team);
  }
}
