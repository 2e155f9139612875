import { TABLE_VERSIONS, TABLES_HEADER } from "../../contract/table-versions.ts";
import { pageForUser } from "../terminal/package-root.ts";

/** A class of objects whose tables have one version where Troupe is deployed, and another in what is to be deployed. */
interface TableChange {
  object: string;
  deployed: number;
  here: number;
}

/** The tables of the deployed version, compared with those of this one. */
export interface ComparedTables {
  /** False if the deployed version does not answer, or does not say which tables it has. */
  known: boolean;
  changes: TableChange[];
}

/** Asks the deployed version for its tables. */
export async function compareTables(url: string): Promise<ComparedTables> {
  const versions = await tablesOf(url);
  if (versions === undefined) return { known: false, changes: [] };
  const changes = Object.entries(TABLE_VERSIONS).flatMap(([object, here]) => {
    const deployed = versions.get(object);
    return deployed === undefined || deployed === here ? [] : [{ object, deployed, here }];
  });
  return { known: true, changes };
}

/** True if the deployed version has tables that this one refuses. */
export function isRetreat({ changes }: ComparedTables): boolean {
  return changes.some(({ deployed, here }) => deployed > here);
}

/** Explains to the user which effects of a deployment a rollback cannot undo; undefined if there are none. */
export function explainTables(tables: ComparedTables, url: string): string | undefined {
  const page = `${pageForUser("deploying.md")}, "Upgrade and retreat"`;
  if (!tables.known) {
    return `${url}/healthz does not say which tables the deployed version has, so it is not known whether it can read what this version stores. See ${page}.`;
  }
  if (tables.changes.length === 0) return undefined;
  const versions = tables.changes
    .map(({ object, deployed, here }) => `${object} ${deployed} to ${here}`)
    .join(", ");
  if (isRetreat(tables)) {
    return `The deployed version has newer tables than this one (${versions}). This version refuses every object that the deployed one has opened (503 newer_data), and changes nothing of it, until a version that knows its tables is deployed. See ${page}.`;
  }
  return `This version changes stored tables (${versions}) when it first opens an object. The version that is deployed now then refuses that object (503 newer_data): a rollback stops what this version has opened. See ${page}.`;
}

async function tablesOf(url: string): Promise<ReadonlyMap<string, number> | undefined> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(10_000) });
    await response.body?.cancel();
    const header = response.headers.get(TABLES_HEADER);
    if (header === null) return undefined;
    const pairs = header.split(",").map((pair) => pair.trim().split("="));
    return new Map(pairs.map(([object = "", version]) => [object, Number(version)]));
  } catch {
    return undefined;
  }
}
