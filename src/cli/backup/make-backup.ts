import { ApiError } from "../../client/index.ts";
import type { ArchivedItem, BackupEnd } from "./archive-format.ts";
import { ArchiveWriter } from "./archive.ts";
import { KINDS } from "./kinds.ts";
import { SecretsFile } from "./secrets-file.ts";
import { isRefusal, reasonOf, type Server } from "./server.ts";

/** A complete backup, and what it lacks. */
export interface MadeBackup {
  end: BackupEnd;
  /** The places of secrets that a restore needs. */
  missing: string[];
}

/**
 * Reads everything of the tenant into a directory. Items that an interrupted backup has there already are not read again.
 *
 * @param onItem called with each item that was read
 * @throws CliError | ApiError | ConnectionError when it was interrupted
 */
export async function makeBackup(
  server: Server,
  directory: string,
  onItem: (item: ArchivedItem) => void,
): Promise<MadeBackup> {
  const archive = await ArchiveWriter.open(directory, server);
  const secrets = await SecretsFile.open(directory);
  const leftOut: string[] = [];
  for (const kind of KINDS) {
    try {
      for await (const id of kind.ids(server)) {
        if (archive.has(kind.name, id)) continue;
        try {
          onItem(await archive.add(kind.name, id, (item) => kind.read(server, id, item, secrets)));
        } catch (error) {
          if (!isRefusal(error)) throw error;
          // Nothing is missing of what was deleted since it was listed. A 404 may be that of a part, too.
          const isDeleted = error.status === 404 && (await kind.exists?.(server, id)) === false;
          if (!isDeleted) leftOut.push(`${kind.name} ${id}: ${reasonOf(error)}`);
        }
      }
    } catch (error) {
      const lacksScope = error instanceof ApiError && error.status === 403;
      if (!lacksScope && !isRefusal(error)) throw error;
      leftOut.push(`${kind.name}: ${reasonOf(error)}`);
    }
  }
  return { end: await archive.end(leftOut), missing: secrets.missing };
}
