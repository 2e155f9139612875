import * as z from "zod";
import type { StatePage } from "../../contract/gateways/state-gateway.ts";
import { invalidCursor, ok, type Result } from "../../contract/result.ts";
import { fromBase64Url, toBase64, toBase64Url } from "../../core/base64.ts";
import type { Json } from "../../core/json.ts";
import { type CopiedRow, FIRST_ROW, type ForkPosition, type RowCursor } from "../fork/fork.ts";
import { ForkSource } from "../fork/fork-source.ts";
import { type Snapshot, standsAtCancellation } from "../storage/log/commits.ts";
import type { Stores } from "../storage/stores.ts";

const cursorSchema = z.tuple([
  z.string(),
  z.number(),
  z.object({
    table: z.enum(["head", "log", "event"]),
    path: z.string().nullable(),
    n: z.number(),
    part: z.number(),
  }),
]);

/**
 * Reads a team's state page by page, as a fork does: the rows of a turn never change, so the team may continue
 * meanwhile.
 */
export class StateSource {
  readonly #stores: Stores;
  readonly #rows: ForkSource;

  constructor(stores: Stores) {
    this.#stores = stores;
    this.#rows = new ForkSource(stores, "resolved");
  }

  page(cursor: string | null): Result<StatePage> {
    const start = cursor === null ? this.#start() : readCursor(cursor);
    if (start === undefined) return invalidCursor();
    const { position } = start;
    const page = this.#rows.page(position, start.cursor);
    if (!page.ok) return page;
    const { rows, next } = page.value;
    const { turn, created_at } = position;
    return ok({
      state: `${this.#stores.team.record.id}/${turn}/${created_at}`,
      turn,
      cancelled: standsAtCancellation(this.#stores, turn),
      lines: rows.map(lineOf),
      next: next && writeCursor(position, next),
    });
  }

  #start(): { position: ForkPosition; cursor: RowCursor } | undefined {
    const point = this.#rows.point(null);
    return point.ok ? { position: point.value, cursor: FIRST_ROW } : undefined;
  }
}

/** Bodies are JSON already. */
function lineOf(row: CopiedRow): string {
  switch (row.table) {
    case "head": {
      const { path, body } = row;
      // The commit belongs to the team, not to its state.
      const heads = body && JSON.stringify((JSON.parse(body) as { heads: Snapshot }).heads);
      return line({ type: "head", path }, heads);
    }
    case "log": {
      const { path, start, count, body } = row;
      return line({ type: "log", path, start, count }, body);
    }
    case "event":
      return line({ type: "message", seq: row.seq, id: row.id }, row.body);
    case "part": {
      const body = JSON.stringify(toBase64(new Uint8Array(row.body)));
      return line({ type: "text", of: row.owner, n: row.n }, body);
    }
  }
}

function line(fields: { [key: string]: Json }, body: string | null): string {
  return `${JSON.stringify(fields).slice(0, -1)},"body":${body ?? "null"}}`;
}

function writeCursor({ created_at, turn }: ForkPosition, cursor: RowCursor): string {
  const position = [created_at, turn, cursor] satisfies z.input<typeof cursorSchema>;
  return toBase64Url(new TextEncoder().encode(JSON.stringify(position)));
}

function readCursor(text: string): { position: ForkPosition; cursor: RowCursor } | undefined {
  try {
    const position = JSON.parse(new TextDecoder().decode(fromBase64Url(text))) as unknown;
    const [created_at, turn, cursor] = cursorSchema.parse(position);
    return { position: { created_at, turn }, cursor };
  } catch {
    return undefined;
  }
}
