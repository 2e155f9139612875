import { globSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/**
 * Ids of the stored teams that no list shows yet, because a version without lists has stored them. A team is listed once it
 * is loaded.
 *
 * @param directory where wrangler keeps its state
 */
export function unlistedTeams(directory: string): string[] {
  return globSync("v3/do/*TeamObject/*.sqlite", { cwd: directory }).flatMap((file) => {
    try {
      return unlistedTeam(join(directory, file)) ?? [];
    } catch {
      // No team's database, or not one of this machine's version: it is listed when it is used.
      return [];
    }
  });
}

function unlistedTeam(file: string): string | undefined {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const outbox = db.prepare("select 1 from sqlite_master where name = 'outbox'").get();
    if (outbox !== undefined) return undefined;
    const row = db.prepare("select value from meta where name = 'team'").get();
    return row && String(JSON.parse(String(row["value"])).id);
  } finally {
    db.close();
  }
}
