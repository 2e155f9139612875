import { createHash } from "node:crypto";
import { join } from "node:path";
import { CliError, EXIT } from "../terminal/errors.ts";
import { type ArchivedItem, Archive } from "./archive.ts";
import type { Kind, RestoreContext } from "./kind.ts";
import { KINDS } from "./kinds.ts";
import { RestoreJournal } from "./restore-journal.ts";
import { SECRETS_FILE, SecretsFile } from "./secrets-file.ts";
import { isRefusal, reasonOf, type Server } from "./server.ts";

/** An item that the server has already, with the status of its refusal, or one that it refused. */
interface RefusedItem {
  kind: string;
  id: string;
  status: number;
  reason: string;
}

interface RestoreReport {
  restored: number;
  refused: RefusedItem[];
  notes: string[];
  /** The work that is left to a person, such as making keys. */
  todo: string[];
}

interface RestoreOptions {
  overwrite: boolean;
  /** True if what lacks a secret is left out, instead of refusing the restore. */
  withoutSecrets: boolean;
  onItem: (item: ArchivedItem) => void;
}

/**
 * Writes a backup to a server. Items that an interrupted restore has written there already are not written again.
 *
 * @throws CliError | ApiError | ConnectionError when it was interrupted
 */
export async function restoreBackup(
  server: Server,
  directory: string,
  { overwrite, withoutSecrets, onItem }: RestoreOptions,
): Promise<RestoreReport> {
  const archive = await Archive.open(directory);
  const secrets = await SecretsFile.open(directory);
  const { missing } = secrets;
  if (missing.length > 0 && !withoutSecrets) {
    throw new CliError(
      `Secrets are missing: fill them in in ${join(directory, SECRETS_FILE)}, or leave out what needs them with --without-secrets.`,
      {
        exitCode: EXIT.usage,
        code: "missing_secrets",
        issues: missing.map((path) => ({ path, message: "has no value" })),
      },
    );
  }
  const journal = await RestoreJournal.open(directory, server);
  const refused: RefusedItem[] = [];
  let restored = 0;
  for (const kind of KINDS) {
    for (const item of archive.items.filter((one) => one.kind === kind.name)) {
      const parent = kind.within?.(item.id);
      if (parent !== undefined && journal.stepOf(parent)?.step !== "done") continue;
      if (journal.stepOf(item)?.step !== "done") {
        const refusal = await restoreItem(kind, item, {
          server,
          archive,
          secrets,
          journal,
          overwrite,
        });
        if (refusal !== undefined) {
          refused.push(refusal);
          continue;
        }
        onItem(item);
      }
      restored++;
    }
  }
  return { restored, refused, notes: journal.notes, todo: journal.todo };
}

interface Restore extends Pick<RestoreContext, "overwrite" | "secrets"> {
  server: Server;
  archive: Archive;
  journal: RestoreJournal;
}

async function restoreItem(
  kind: Kind,
  item: ArchivedItem,
  restore: Restore,
): Promise<RefusedItem | undefined> {
  const { server, archive, secrets, journal, overwrite } = restore;
  const { id } = item;
  const resumed = journal.stepOf(item)?.step === "begun";
  if (!resumed && (await kind.exists?.(server, id)) === true) {
    if (!overwrite) return { kind: kind.name, id, status: 409, reason: "It exists already." };
    await kind.remove?.(server, id);
  }
  await journal.add({ kind: kind.name, id, step: "begun" });
  const notes: string[] = [];
  const todo: string[] = [];
  try {
    await kind.write(server, id, {
      item,
      secrets,
      resumed,
      overwrite,
      json: (name) => archive.json(item, name),
      blob: (name) => archive.blob(item, name),
      idempotencyKey: (part) =>
        createHash("sha256")
          .update(JSON.stringify([journal.id, kind.name, id, part]))
          .digest("hex"),
      note: (text) => notes.push(text),
      todo: (text) => todo.push(text),
    });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    await journal.add({ kind: kind.name, id, step: "refused" });
    return { kind: kind.name, id, status: error.status, reason: reasonOf(error) };
  }
  await journal.add({ kind: kind.name, id, step: "done", notes, todo });
  return undefined;
}
