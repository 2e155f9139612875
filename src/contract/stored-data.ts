import { errorMessage } from "../core/errors.ts";
import { isPassing } from "../core/steps/passing-error.ts";
import { refuse, type Refused } from "./result.ts";

/** An object whose stored data may be unusable, as its callers know it. */
export type StoredObject =
  | { is: "team" }
  | { is: "tenant"; id: string }
  | { is: "tenants" }
  | { is: "collection"; id: string }
  | { is: "memories"; user: string | null };

/** Codes of stored data that cannot be read, by what `subjectOf` begins with. */
const UNREADABLE = {
  team: "team_unreadable",
  tenant: "tenant_unreadable",
  tenants: "tenant_unreadable",
  collection: "collection_unreadable",
  memories: "memories_unreadable",
} as const;

export const NEWER_DATA = "newer_data";

/** A version that knows the data has to be deployed, which takes a human: clients do not wait for it by themselves. */
const NEWER_RETRY_SECONDS = 120;

/** Errors of objects arrive in the Worker with their message alone, by which it knows these. */
const NEWER = "The stored data was written by a newer version of Troupe";
const BROKEN =
  /^The stored data of the (team|tenants|tenant|collection|memories)\b.* cannot be read \(/s;
/** The runtime's message about a file that it does not open, and about faults of its own. */
const UNOPENED = /internal error; reference =/;
/** SQLite's messages about a damaged file. */
const CORRUPT = /SQLITE_(CORRUPT|NOTADB)|database disk image is malformed|file is not a database/;

/** Thrown for tables that this version does not know, before anything is read or written. */
export class NewerDataError extends Error {
  /** @param stored version of the tables @param known the last version that this code knows */
  constructor(stored: number, known: number) {
    super(
      `${NEWER} (its tables have version ${stored}, this one knows ${known}): nothing was read or changed. Run that version or a later one.`,
    );
    this.name = "NewerDataError";
  }
}

/** The refusal that an error about stored data stands for; undefined for other errors. */
export function refuseStored(error: unknown): Refused | undefined {
  const message = error instanceof Error ? error.message : "";
  if (message.startsWith(NEWER)) {
    const { problem } = refuse(503, NEWER_DATA, message);
    return { ok: false, problem: { ...problem, retry_after: NEWER_RETRY_SECONDS } };
  }
  const [, is] = BROKEN.exec(message) ?? [];
  if (is === undefined) return undefined;
  return refuse(500, UNREADABLE[is as keyof typeof UNREADABLE], message);
}

/** The error of a call, which says whose data is damaged where SQLite says that some are. */
export function storedDataError(error: unknown, object: StoredObject): unknown {
  if (!isCorrupt(error)) return error;
  return new Error(unreadable(object, errorMessage(error)).problem.detail, { cause: error });
}

/** True if SQLite says that the data of this object, and not of one that it has called, are damaged. */
export function isCorrupt(error: unknown): boolean {
  return refuseStored(error) === undefined && CORRUPT.test(errorMessage(error));
}

/** The refusal to erase an object that the runtime cannot even start: it does not open the file. */
export function notErased({ problem }: Refused): Refused {
  const detail = `${problem.detail} Nothing was erased, because not even the object can be started: delete its file, or restore it from a backup.`;
  return { ok: false, problem: { ...problem, detail } };
}

/** The refusal of an object whose data cannot be read, with the ways out. */
function unreadable(object: StoredObject, reason: string): Refused {
  const detail = `The stored data of ${subjectOf(object)} cannot be read (${reason}). ${remedyOf(object)}`;
  return refuse(500, UNREADABLE[object.is], detail);
}

/**
 * The refusal of an object that could not be loaded.
 *
 * @throws an error that passes: it says nothing about what is stored
 */
export function refuseUnusable(error: unknown, object: StoredObject): Refused {
  if (isPassing(error)) throw error;
  return refuseStored(error) ?? unreadable(object, errorMessage(error));
}

/** As {@link refuseUnusable}, for an object that is to be erased: one that the runtime does not open may be damaged. */
export function refuseUnopened(error: unknown, object: StoredObject): Refused {
  const message = errorMessage(error);
  return UNOPENED.test(message) ? unreadable(object, message) : refuseUnusable(error, object);
}

/** True if the runtime could not open the object. */
export function isUnopened({ problem }: Refused): boolean {
  return UNOPENED.test(problem.detail);
}

/** True if the data of the object itself, and not of one that it has called, cannot be read. */
export function isUnreadable({ problem }: Refused, object: Pick<StoredObject, "is">): boolean {
  return problem.code === UNREADABLE[object.is];
}

function subjectOf(object: StoredObject): string {
  switch (object.is) {
    case "team":
    case "tenants":
      return `the ${object.is}`;
    case "tenant":
    case "collection":
      return `the ${object.is} ${JSON.stringify(object.id)}`;
    case "memories":
      return object.user === null
        ? "the memories of the tenant"
        : `the memories of the user ${JSON.stringify(object.user)}`;
  }
}

function remedyOf(object: StoredObject): string {
  switch (object.is) {
    case "team":
      return "The team can only be deleted, or restored from a backup.";
    case "tenant":
      return `Its teams, memories and collections are stored apart from it and are not affected. Restore the tenant's data from a backup; an operator can also delete the tenant with all that belongs to it (DELETE /v1/tenants/${object.id}).`;
    case "tenants":
      return "The tenants themselves are not affected. Restore the data of the object @registry from a backup.";
    case "collection":
      return `Delete it (DELETE /v1/collections/${object.id}) and put its documents again, or restore its data from a backup.`;
    case "memories":
      return `Erase them (DELETE /v1/memories?${object.user === null ? "scope=tenant" : `user=${encodeURIComponent(object.user)}`}), or restore their data from a backup.`;
  }
}
