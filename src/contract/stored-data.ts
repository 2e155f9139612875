import { refuse, type Refused } from "./result.ts";

/** Said of tables that a newer version has made. Errors of objects arrive in the Worker as their message alone. */
const NEWER = "The stored data was written by a newer version of Troupe";

/** Refuses tables that this version does not know, before anything is read or written. */
export class NewerDataError extends Error {
  /** @param stored version of the tables @param known the last one that this code knows */
  constructor(stored: number, known: number) {
    super(
      `${NEWER} (its tables have version ${stored}, this one knows ${known}): nothing was read or changed. Run that version or a later one.`,
    );
    this.name = "NewerDataError";
  }
}

/** How stored data that cannot be used is answered; undefined for other errors. */
export function refuseStored(error: unknown): Refused | undefined {
  const message = error instanceof Error ? error.message : "";
  if (message.startsWith(NEWER)) return refuse(503, NEWER_DATA, message);
  if (/SQLITE_(CORRUPT|NOTADB)/.test(message)) return unreadable(message);
  return undefined;
}

/** Refuses stored data that cannot be read. */
export function unreadable(reason: string): Refused {
  const detail = `The stored data of the team cannot be read (${reason}). The team can only be deleted.`;
  return refuse(500, UNREADABLE, detail);
}

export const UNREADABLE = "team_unreadable";
export const NEWER_DATA = "newer_data";
