import { invalidCursor, ok, type Result, runNotFound } from "../../../contract/result.ts";
import type { DecisionPage, StoredApprovalPage } from "../../../contract/approval.ts";
import { MAX_PAGE_BYTES } from "../../../sqlite/page-limit.ts";
import type { Stores } from "../../storage/stores.ts";

interface PageQuery {
  cursor?: string | undefined;
  limit: number;
}

/** The decisions about calls of a run, oldest first. */
export function decisionsOf(
  { runs, decisions }: Stores,
  run: string,
  { cursor, limit }: PageQuery,
): Result<DecisionPage> {
  if (!runs.byId(run)) return runNotFound();
  const [, at = "0", ordinal = "0"] = /^(\d{1,16})\.(\d{1,16})$/.exec(cursor ?? "0.0") ?? [];
  if (cursor !== undefined && cursor !== `${at}.${ordinal}`) return invalidCursor();
  const found = decisions.page(run, { at: Number(at), ordinal: Number(ordinal) }, limit + 1);
  const shown = bounded(found.slice(0, limit));
  const last = shown.at(-1);
  return ok({
    decisions: shown.map(({ decision }) => decision),
    next_cursor: last && found.length > shown.length ? `${last.at}.${last.ordinal}` : null,
  });
}

/** The stored approvals of a team. */
export function storedApprovals(
  { approvals }: Stores,
  { cursor, limit }: PageQuery,
): Result<StoredApprovalPage> {
  if (cursor !== undefined && !/^\d{1,16}$/.test(cursor)) return invalidCursor();
  const found = approvals.page(Number(cursor ?? 0), limit + 1);
  const shown = bounded(found.slice(0, limit));
  const last = shown.at(-1);
  return ok({
    approvals: shown.map(({ approval }) => approval),
    next_cursor: last && found.length > shown.length ? String(last.ordinal) : null,
  });
}

/** The first ones, as many as an answer may hold; at least one. */
function bounded<T>(items: readonly T[]): T[] {
  let bytes = 0;
  return items.filter((item, index) => {
    bytes += JSON.stringify(item).length;
    return index === 0 || bytes <= MAX_PAGE_BYTES;
  });
}
