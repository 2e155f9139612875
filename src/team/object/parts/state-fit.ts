import { MAX_STATE_DOCUMENT_BYTES } from "../../../contract/constants.ts";
import { type Issue, StateError } from "../../../core/errors.ts";
import { listIssues } from "../../../core/issues.ts";
import type { JsonObject } from "../../../core/json.ts";
import { LogStore } from "../../storage/team-state.ts";
import type { Stores } from "../../storage/stores.ts";

/**
 * Refuses the saved state of another kind of object. Loading takes the fields it knows, as AutoGen does, and would silently
 * drop the rest: a whole conversation, when a team's state is loaded into a single agent.
 *
 * @throws StateError
 */
export function requireKind({ type: given }: JsonObject, { type: wanted }: JsonObject): void {
  if (typeof given !== "string" || typeof wanted !== "string" || given === wanted) return;
  const message = `is ${JSON.stringify(given)}; it must be ${JSON.stringify(wanted)}`;
  requireNone([{ path: "type", message }]);
}

/** A database of this size surely holds a state that fits into one document, unless its texts share blobs. */
const SURELY_SMALL_BYTES = 1_000_000;

/** True if the logs fit into one document, as far as they are read to know it. */
export function isDocumentSized({ db, texts, log }: Stores): boolean {
  if (db.size <= SURELY_SMALL_BYTES && !texts.blobs.exist) return true;
  const logs = new LogStore(db, texts, log.references);
  let bytes = 0;
  for (const path of logs.paths) {
    for (const items of logs.rows(path)) {
      bytes += sizeOf(items);
      if (bytes > MAX_STATE_DOCUMENT_BYTES) return false;
    }
  }
  return true;
}

/** True if a state fits into one document. */
export function isSmallDocument(state: JsonObject): boolean {
  return sizeOf(state) <= MAX_STATE_DOCUMENT_BYTES;
}

/** Bytes of its JSON in a call between objects: texts beyond Latin-1 take two per character. */
function sizeOf(value: unknown): number {
  const text = JSON.stringify(value);
  return /[\u0100-\uffff]/.test(text) ? 2 * text.length : text.length;
}

/** @throws StateError with all issues, if there are any */
export function requireNone(issues: Issue[]): void {
  if (issues.length === 0) return;
  throw new StateError(`the state does not fit this team: ${listIssues(issues)}`, { issues });
}
