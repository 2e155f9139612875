import type { ComponentModel } from "../../core/component/component.ts";
import type { JsonObject } from "../../core/json.ts";
import type { ForkTeamInput } from "../../contract/gateway.ts";
import type { Result } from "../../contract/result.ts";
import type { TeamInfo } from "../../contract/team.ts";

/** A finished turn of a team, as a fork begins with it. Nothing of it changes any more. */
export interface ForkPoint {
  team_id: string;
  /** Tells the team from another one that is created under its id in the meantime. */
  created_at: string;
  turn: number;
  label: string | null;
  metadata: JsonObject;
  /** Its secrets are sealed, and stay so. */
  component: ComponentModel;
}

/** A row that the fork needs. Texts too big for a row (`body` is null) come in parts, before their row. */
export type ForkRow =
  | { table: "head"; path: string; body: string | null }
  | { table: "log"; path: string; start: number; count: number; body: string | null }
  | { table: "event"; seq: number; turn: number; id: string | null; body: string | null }
  | { table: "part"; owner: string; n: number; body: ArrayBuffer };

/** How far the rows have come: everything up to this key of this table, and `part` parts of what follows. */
export interface ForkCursor {
  table: "head" | "log" | "event";
  /** Null before the first. */
  path: string | null;
  /** `start` of a log's row, or `seq` of an event. */
  n: number;
  part: number;
}

export const FIRST_ROW: ForkCursor = { table: "head", path: null, n: 0, part: 0 };

/** A piece of a fork, about 1 MB; `next` is null at the end. */
export interface ForkPage {
  rows: ForkRow[];
  next: ForkCursor | null;
}

/** Who asks for a fork: the same origin goes on with what it began. */
export interface ForkRequest extends Omit<ForkTeamInput, "turn"> {
  origin: string;
}

export type ForkProgress =
  | { done: true }
  | { done: false; position: ForkPosition; cursor: ForkCursor };

/** Names a turn of a team. */
export type ForkPosition = Pick<ForkPoint, "created_at" | "turn">;

/** A team object that is forked. */
export interface ForkSourceStub {
  forkPoint(turn: number | null): Promise<Result<ForkPoint>>;
  forkPage(position: ForkPosition, cursor: ForkCursor): Promise<Result<ForkPage>>;
}

/** The object that becomes the fork; it is a team once everything has arrived. */
export interface ForkTargetStub {
  /** How far the request has come before, null if it comes for the first time. */
  forkProgress(request: ForkRequest): Promise<Result<ForkProgress | null>>;
  beginFork(request: ForkRequest, point: ForkPoint): Promise<Result<ForkProgress>>;
  /** Stores a page unless somebody else, for the same request, has brought it already. */
  continueFork(
    request: ForkRequest,
    cursor: ForkCursor,
    page: ForkPage,
  ): Promise<Result<ForkProgress>>;
  team(): Promise<Result<TeamInfo>>;
}

/**
 * Copies a team up to the end of a turn, page by page. Only the target remembers how far it is, so that whoever repeats
 * the request goes on there, also while somebody else is at it.
 */
export async function fork(
  source: ForkSourceStub,
  target: ForkTargetStub,
  { turn, ...input }: ForkTeamInput,
): Promise<Result<TeamInfo>> {
  const { idempotency } = input;
  const origin = idempotency ? `${idempotency.key} ${idempotency.hash}` : crypto.randomUUID();
  const request = { ...input, origin };
  let progress: Result<ForkProgress | null> = await target.forkProgress(request);
  for (;;) {
    if (!progress.ok) return progress;
    if (progress.value === null) {
      const point = await source.forkPoint(turn);
      if (!point.ok) return point;
      progress = await target.beginFork(request, point.value);
    } else if (progress.value.done) {
      return target.team();
    } else {
      const { position, cursor } = progress.value;
      const page = await source.forkPage(position, cursor);
      if (!page.ok) return page;
      progress = await target.continueFork(request, cursor, page.value);
    }
  }
}
