import type { ComponentModel } from "../../core/component/component-model.ts";
import type { JsonObject } from "../../core/json.ts";
import type { ForkTeamInput } from "../../contract/gateways/team-gateway.ts";
import type { Result } from "../../contract/result.ts";
import type { TeamInfo } from "../../contract/team.ts";
import type { TaskChange } from "../../core/board/board-task.ts";
import type { TextMessage } from "../../core/messages/chat-messages.ts";
import type { CopiedMemory, MemoryPlace } from "../storage/team-memory.ts";
import type { BlobPart, WantedBlob } from "../../sqlite/blob-store.ts";

/** The finished turn from which a fork starts. It never changes. */
export interface ForkPoint {
  team_id: string;
  /** Distinguishes the team from one that is created later under the same id. */
  created_at: string;
  turn: number;
  /** Same as in `Commit`. */
  cancelled: boolean;
  label: string | null;
  metadata: JsonObject;
  /** Same as in `TeamRecord`. */
  expires_in?: number;
  user?: string;
  /** The component; its secrets stay sealed. */
  component: ComponentModel;
  /** Left out where there is nothing, and for turns before the last. */
  unread?: Unread;
}

/** Messages and changes of people that no commit has: the next run reads them first. */
export interface Unread {
  /** The messages into runs that have ended, with their runs. */
  sent: { run: string; message: TextMessage }[];
  /** The changes of the board. */
  changes: TaskChange[];
}

/** A row of a state. Texts too large for a row (`body` is null) are sent in parts before their row. */
export type CopiedRow =
  | { table: "head"; path: string; body: string | null }
  | { table: "log"; path: string; start: number; count: number; body: string | null }
  | { table: "event"; seq: number; turn: number; id: string | null; body: string | null }
  | { table: "part"; owner: string; n: number; body: ArrayBuffer };

/** A row to copy. Texts and their parts refer to blobs, which are sent once, after all rows. Memories have no references. */
export type ForkRow =
  | CopiedRow
  | ({ table: "memory" } & CopiedMemory)
  | ({ table: "blob" } & BlobPart);

/** The position in the copy: all rows up to this key of this table, and `part` parts of the next one. */
export interface RowCursor {
  table: "head" | "log" | "event";
  /** Null before the first. */
  path: string | null;
  /** `start` of a log's row, or `seq` of an event. */
  n: number;
  part: number;
}

/** The position after the rows of the state: the memories that were copied. */
export interface MemoryCursor {
  table: "memory";
  place: MemoryPlace;
}

/** The position after all rows: the next missing blobs. */
export interface BlobCursor {
  table: "blob";
  wanted: readonly WantedBlob[];
}

export type ForkCursor = RowCursor | MemoryCursor | BlobCursor;

export const FIRST_ROW: RowCursor = { table: "head", path: null, n: 0, part: 0 };
export const FIRST_MEMORY: MemoryCursor = { table: "memory", place: { past: false, n: 0 } };

/**
 * A page of the copy, about 1 MB. `next` is null at the end of the rows and of the memories, and after blobs, because the fork
 * knows which it lacks.
 */
export interface ForkPage {
  rows: ForkRow[];
  next: RowCursor | MemoryCursor | null;
}

/** A request for a fork. One with the same origin continues an unfinished copy. */
export interface ForkRequest extends Omit<ForkTeamInput, "turn"> {
  origin: string;
}

export type ForkProgress =
  | { done: true }
  | { done: false; position: ForkPosition; cursor: ForkCursor };

/** Identifies a turn of a team. */
export type ForkPosition = Pick<ForkPoint, "created_at" | "turn">;

/** The team object that is copied. */
export interface ForkSourceStub {
  forkPoint(turn: number | null): Promise<Result<ForkPoint>>;
  forkPage(position: ForkPosition, cursor: ForkCursor): Promise<Result<ForkPage>>;
}

/** The object that becomes the fork; it is a team once the copy is complete. */
export interface ForkTargetStub {
  /** The progress of an earlier attempt of this request; null if there was none. */
  forkProgress(request: ForkRequest): Promise<Result<ForkProgress | null>>;
  beginFork(request: ForkRequest, point: ForkPoint): Promise<Result<ForkProgress>>;
  /** Stores a page, unless a concurrent attempt of the same request has already stored it. */
  continueFork(
    request: ForkRequest,
    cursor: ForkCursor,
    page: ForkPage,
  ): Promise<Result<ForkProgress>>;
  team(): Promise<Result<TeamInfo>>;
}

/**
 * Copies a team up to the end of a turn, page by page. Only the target records the progress, so a repeated request
 * continues there, even while another attempt is still running.
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
