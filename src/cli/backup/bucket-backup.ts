import { createHash } from "node:crypto";
import { openAsBlob } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import {
  type ArchivedItem,
  damaged,
  ENDED,
  endSchema,
  fileNameOf,
  ITEMS,
  itemsOf,
  parsed,
  STARTED,
  wrong,
} from "./archive-format.ts";
import { Archive, endIn, hashOf, readText, requireSource } from "./archive.ts";
import type { Bucket } from "./bucket.ts";
import { type MadeBackup, makeBackup } from "./make-backup.ts";
import { replaceFile } from "./replace-file.ts";
import { SECRETS_FILE, SecretsFile } from "./secrets-file.ts";
import type { Server } from "./server.ts";

/** Files that are copied at the same time. */
const AT_ONCE = 6;

/**
 * Makes a backup in a directory of this machine, and sends it into a bucket. Files that an interrupted attempt has sent are not
 * sent again. The directory is removed once the bucket has everything.
 *
 * @param folder holds the directory
 * @throws CliError | ApiError | ConnectionError when it was interrupted
 */
export async function backUpToBucket(
  server: Server,
  bucket: Bucket,
  folder: string,
  onItem: (item: ArchivedItem) => void,
): Promise<MadeBackup> {
  const directory = join(folder, "backups", fileNameOf(bucket.id));
  await requireFree(bucket, directory);
  const made = await madeIn(directory, server, onItem);
  await send(directory, bucket);
  await rm(directory, { recursive: true });
  return made;
}

/** Refuses an address with a backup that was not made in this directory. @throws CliError */
async function requireFree(bucket: Bucket, directory: string): Promise<void> {
  const ended = await bucket.text(ENDED);
  if (ended !== undefined && ended !== (await readText(join(directory, ENDED)))) {
    throw wrong(
      `${bucket.address} has a complete backup. Name another address.`,
      "backup_complete",
    );
  }
  const started = await bucket.text(STARTED);
  if (started !== undefined && started !== (await readText(join(directory, STARTED)))) {
    throw wrong(
      `${bucket.address} has the beginning of a backup that was made from another directory or machine. Continue it there, or name another address.`,
      "other_backup",
    );
  }
}

async function madeIn(
  directory: string,
  server: Server,
  onItem: (item: ArchivedItem) => void,
): Promise<MadeBackup> {
  const end = await endIn(directory);
  if (end === undefined) return makeBackup(server, directory, onItem);
  // An earlier attempt was interrupted after it had read everything.
  requireSource(directory, end, server);
  return { end, missing: (await SecretsFile.open(directory)).missing };
}

async function send(directory: string, bucket: Bucket): Promise<void> {
  const { items } = await Archive.open(directory);
  const stored = await bucket.list();
  const sendFile = async (path: string, sha256?: string): Promise<void> => {
    const file = join(directory, path);
    const content = await openAsBlob(file);
    const known = stored.get(path);
    if (known?.bytes === content.size && known.etag === (await hashOf(file, "md5"))) return;
    await bucket.put(path, content, sha256 ?? (await hashOf(file)) ?? "");
  };
  await sendFile(STARTED);
  await eachFile(items, ({ path, sha256 }) => sendFile(path, sha256));
  // Values that were filled in meanwhile stay on this machine.
  const { places } = await SecretsFile.open(directory);
  if (places !== undefined) {
    const sha256 = createHash("sha256").update(places).digest("hex");
    await bucket.put(SECRETS_FILE, new Blob([places]), sha256);
  }
  await sendFile(ITEMS);
  await sendFile(ENDED);
}

type ArchivedFile = ArchivedItem["files"][string];

/** Copies the files of all items, some at a time. After a failure no other one is begun. */
async function eachFile(
  items: readonly ArchivedItem[],
  copy: (file: ArchivedFile) => Promise<void>,
): Promise<void> {
  // One generator for all: the loop that fails closes it for the others, too.
  const files = (function* (): Generator<ArchivedFile> {
    for (const item of items) yield* Object.values(item.files);
  })();
  const copies = Array.from({ length: AT_ONCE }, async () => {
    for (const file of files) await copy(file);
  });
  await Promise.all(copies);
}

/**
 * Copies a backup from a bucket into a directory of this machine, from which it is restored. Files that the directory has are not
 * copied again.
 *
 * @param folder holds the directory
 * @returns the directory
 * @throws CliError
 */
export async function downloadBackup(bucket: Bucket, folder: string): Promise<string> {
  const { address } = bucket;
  const directory = join(folder, "restores", fileNameOf(bucket.id));
  const started = await bucket.text(STARTED);
  const ended = await bucket.text(ENDED);
  if (started === undefined || ended === undefined) {
    throw wrong(
      started === undefined
        ? `${address} has no backup: there is no ${STARTED} in it.`
        : `The backup in ${address} is not complete. "troupe backup ${address}" continues it where it was begun.`,
      "no_backup",
    );
  }
  await mkdir(directory, { recursive: true });
  const known = await readText(join(directory, STARTED));
  if (known !== "" && known !== started) {
    throw wrong(
      `${directory} has the copy of an earlier backup in ${address}, perhaps with its secrets filled in. Remove that directory.`,
      "other_backup",
    );
  }
  const end = parsed(ended, endSchema, bucket.addressOf(ENDED));
  const list = (await bucket.text(ITEMS)) ?? "";
  const items = itemsOf(list, end, bucket.addressOf(ITEMS));
  await replaceFile(join(directory, STARTED), started);
  await eachFile(items, async ({ path, sha256 }) => {
    const file = join(directory, path);
    if ((await hashOf(file)) === sha256) return;
    if ((await bucket.download(path, file)) !== sha256) throw damaged(bucket.addressOf(path));
  });
  const places = await bucket.text(SECRETS_FILE);
  if (places !== undefined && (await readText(join(directory, SECRETS_FILE))) === "") {
    await replaceFile(join(directory, SECRETS_FILE), places, 0o600);
  }
  await replaceFile(join(directory, ITEMS), list);
  await replaceFile(join(directory, ENDED), ended);
  return directory;
}
