import { createHash, randomUUID } from "node:crypto";
import { join } from "node:path";
import { CliError, EXIT, type Issue } from "../terminal/errors.ts";
import type { ArchivedItem } from "./archive-format.ts";
import { Archive } from "./archive.ts";
import type { Kind, RestoreContext } from "./kind.ts";
import { KINDS } from "./kinds.ts";
import { RestoreJournal } from "./restore-journal.ts";
import { SECRETS_FILE, SecretsFile } from "./secrets-file.ts";
import { isRefusal, reasonOf, type Server } from "./server.ts";

/** An item or a part of one that was refused, or an item that the server has already. */
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
  /** Items that the backup lacks, because they could not be read. */
  left_out: string[];
}

interface RestoreOptions {
  overwrite: boolean;
  /** True if what lacks a secret is left out, instead of refusing the restore. */
  withoutSecrets: boolean;
  onItem: (item: ArchivedItem) => void;
}

interface Restore extends Pick<RestoreContext, "overwrite" | "secrets"> {
  server: Server;
  archive: Archive;
  journal: RestoreJournal;
}

/** The end of one item: written now, by an earlier attempt, or not at all. */
interface Outcome {
  written: "now" | "before" | "never";
  refused: RefusedItem[];
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
  const lacked = await check(server, archive, secrets);
  if (lacked.length > 0 && !withoutSecrets) {
    throw new CliError(
      `Secrets are missing: fill them in in ${join(directory, SECRETS_FILE)}, open sealed ones with --secrets-key, or leave out what needs them with --without-secrets.`,
      { exitCode: EXIT.usage, code: "missing_secrets", issues: lacked },
    );
  }
  const journal = await RestoreJournal.open(directory, server);
  const restore = { server, archive, secrets, journal, overwrite };
  const refused: RefusedItem[] = [];
  let restored = 0;
  for (const [kind, item] of inOrder(archive)) {
    const parent = kind.within?.(item.id);
    if (parent !== undefined && journal.stepOf(parent)?.step !== "done") continue;
    const outcome = await restoreItem(kind, item, restore);
    refused.push(...outcome.refused);
    if (outcome.written === "now") onItem(item);
    if (outcome.written !== "never") restored++;
  }
  if (refused.length === 0) await journal.end();
  const { notes, todo } = journal;
  return { restored, refused, notes, todo, left_out: archive.end.left_out };
}

function inOrder({ items }: Archive): [Kind, ArchivedItem][] {
  return KINDS.flatMap((kind) =>
    items
      .filter((item) => item.kind === kind.name)
      .map((item): [Kind, ArchivedItem] => [kind, item]),
  );
}

/** The secrets that are missing. @throws CliError for what cannot be restored */
async function check(server: Server, archive: Archive, secrets: SecretsFile): Promise<Issue[]> {
  const issues = secrets.missing.map((path): Issue => ({ path, message: "has no value" }));
  for (const [kind, item] of inOrder(archive)) {
    const json = <T>(name: string): Promise<T> => archive.json<T>(item, name);
    issues.push(...((await kind.check?.(server, { secrets, json })) ?? []));
  }
  return [...new Map(issues.map((issue) => [issue.path, issue])).values()];
}

async function restoreItem(kind: Kind, item: ArchivedItem, restore: Restore): Promise<Outcome> {
  const { server, journal, overwrite } = restore;
  const { id } = item;
  const refusal = (status: number, reason: string): RefusedItem => ({
    kind: kind.name,
    id,
    status,
    reason,
  });
  const known = journal.stepOf(item);
  // An interrupted attempt may have stored a part of it. What others have under the id is theirs.
  const resumed = known?.step === "begun" || known?.stored === true;
  try {
    const present = resumed ? undefined : await kind.exists?.(server, id);
    if (known?.step === "done" && present !== false) {
      const parts = (known.refused ?? []).map(({ status, reason }) => refusal(status, reason));
      if (parts.length === 0 || !overwrite) return { written: "before", refused: parts };
    }
    if (present === true) {
      if (!overwrite) return { written: "never", refused: [refusal(409, "It exists already.")] };
      await kind.remove?.(server, id);
    }
    const parts = await writeItem(kind, item, resumed ? known.attempt : undefined, restore);
    const refused = parts.map(({ status, reason }) => refusal(status, reason));
    return { written: "now", refused };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { written: "never", refused: [refusal(error.status, reasonOf(error))] };
  }
}

/**
 * Writes an item whose id is free, or which an earlier attempt has begun.
 *
 * @param continued the earlier attempt
 * @returns the parts that were refused
 * @throws ApiError for a refusal of the item
 */
async function writeItem(
  kind: Kind,
  item: ArchivedItem,
  continued: string | undefined,
  { server, archive, secrets, journal, overwrite }: Restore,
): Promise<Pick<RefusedItem, "status" | "reason">[]> {
  const { id } = item;
  const attempt = continued ?? randomUUID();
  const entry = { kind: kind.name, id, attempt };
  await journal.add({ ...entry, step: "begun" });
  const refused: Pick<RefusedItem, "status" | "reason">[] = [];
  const notes: string[] = [];
  const todo: string[] = [];
  try {
    await kind.write(server, id, {
      item,
      secrets,
      resumed: continued !== undefined,
      overwrite,
      json: (name) => archive.json(item, name),
      blob: (name) => archive.blob(item, name),
      idempotencyKey: (part) =>
        createHash("sha256")
          .update(JSON.stringify([attempt, part]))
          .digest("hex"),
      refused: (part, error) =>
        refused.push({
          status: error.status,
          reason: `${part}: ${reasonOf(error)}`,
        }),
      note: (text) => notes.push(text),
      todo: (text) => todo.push(text),
    });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    // With 409 the id is that of someone else, who was faster.
    const stored = error.status !== 409 && (await kind.exists?.(server, id)) === true;
    await journal.add({ ...entry, step: "refused", stored });
    throw error;
  }
  await journal.add({ ...entry, step: "done", refused, notes, todo });
  return refused;
}
