import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, openAsBlob } from "node:fs";
import { appendFile, mkdir, readFile, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type * as z from "zod";
import {
  type ArchivedItem,
  type BackupEnd,
  type BackupStart,
  completeLines,
  damaged,
  ENDED,
  endSchema,
  fileNameOf,
  ITEMS,
  itemSchema,
  itemsOf,
  jsonText,
  keyOf,
  parsed,
  STARTED,
  startSchema,
  wrong,
} from "./archive-format.ts";
import { replaceFile } from "./replace-file.ts";

/** Gets the files of an item. A name that is given again replaces the file. */
export interface ItemWriter {
  json(name: string, value: unknown): Promise<void>;
  body(name: string, response: Response): Promise<void>;
}

/** A backup that is being made: its items are listed in a file as soon as they are complete. */
export class ArchiveWriter {
  readonly #directory: string;
  readonly #done: Set<string>;
  readonly start: BackupStart;

  private constructor(directory: string, start: BackupStart, done: Set<string>) {
    this.#directory = directory;
    this.start = start;
    this.#done = done;
  }

  /** Begins a backup, or continues one of the same server and tenant. @throws CliError */
  static async open(
    directory: string,
    { url, tenant }: Pick<BackupStart, "url" | "tenant">,
  ): Promise<ArchiveWriter> {
    await mkdir(directory, { recursive: true });
    if (await exists(join(directory, ENDED))) {
      throw wrong(`${directory} has a complete backup. Name another directory.`, "backup_complete");
    }
    const known = await read(join(directory, STARTED), startSchema);
    if (known !== undefined) requireSource(directory, known, { url, tenant });
    const start: BackupStart = known ?? {
      format: "troupe.backup",
      version: 1,
      url,
      tenant,
      started_at: new Date().toISOString(),
    };
    if (known === undefined) await replaceFile(join(directory, STARTED), jsonText(start));
    const items = completeLines(await readText(join(directory, ITEMS)));
    // The last line may be cut off, if the computer stopped while it was written.
    await replaceFile(join(directory, ITEMS), items.map((line) => `${line}\n`).join(""));
    const done = items.map((line) => keyOf(itemSchema.parse(JSON.parse(line))));
    return new ArchiveWriter(directory, start, new Set(done));
  }

  has(kind: string, id: string): boolean {
    return this.#done.has(keyOf({ kind, id }));
  }

  /** Writes the files of an item and lists it. Nothing is listed if `write` throws. */
  async add(
    kind: string,
    id: string,
    write: (item: ItemWriter) => Promise<void>,
  ): Promise<ArchivedItem> {
    const folder = `${kind}/${fileNameOf(id)}`;
    const files: ArchivedItem["files"] = {};
    await rm(join(this.#directory, folder), { recursive: true, force: true });
    await write({
      json: async (name, value) => {
        const path = `${folder}/${name}`;
        files[name] = await this.#write(path, Readable.from([jsonText(value)]));
      },
      body: async (name, { body }) => {
        const path = `${folder}/${fileNameOf(name)}`;
        files[name] = await this.#write(
          path,
          body === null ? Readable.from([]) : Readable.from(body),
        );
      },
    });
    const item: ArchivedItem = { kind, id, files };
    await appendFile(join(this.#directory, ITEMS), `${JSON.stringify(item)}\n`, { flush: true });
    this.#done.add(keyOf(item));
    return item;
  }

  /** Completes the backup. */
  async end(leftOut: readonly string[]): Promise<BackupEnd> {
    const list = await readText(join(this.#directory, ITEMS));
    const end: BackupEnd = {
      ...this.start,
      ended_at: new Date().toISOString(),
      items: this.#done.size,
      sha256: createHash("sha256").update(list).digest("hex"),
      left_out: [...leftOut],
    };
    await replaceFile(join(this.#directory, ENDED), jsonText(end));
    return end;
  }

  async #write(path: string, content: Readable): Promise<ArchivedItem["files"][string]> {
    const target = join(this.#directory, path);
    await mkdir(dirname(target), { recursive: true });
    const hash = createHash("sha256");
    let bytes = 0;
    const count = new Transform({
      transform(chunk: Uint8Array | string, _, done) {
        hash.update(chunk);
        bytes += Buffer.byteLength(chunk);
        done(null, chunk);
      },
    });
    await pipeline(content, count, createWriteStream(target, { flush: true }));
    return { path, sha256: hash.digest("hex"), bytes };
  }
}

/** A complete backup. */
export class Archive {
  readonly directory: string;
  readonly end: BackupEnd;
  readonly items: readonly ArchivedItem[];

  private constructor(directory: string, end: BackupEnd, items: readonly ArchivedItem[]) {
    this.directory = directory;
    this.end = end;
    this.items = items;
  }

  /** Opens a backup and checks the hash of each file. @throws CliError */
  static async open(directory: string): Promise<Archive> {
    const end = await endIn(directory);
    if (end === undefined) {
      const begun = await exists(join(directory, STARTED));
      throw wrong(
        begun
          ? `The backup in ${directory} is not complete. "troupe backup ${directory}" continues it.`
          : `${directory} has no backup: there is no ${ENDED} in it.`,
        "no_backup",
      );
    }
    const file = join(directory, ITEMS);
    const items = itemsOf(await readText(file), end, file);
    for (const { files } of items) {
      for (const { path, sha256 } of Object.values(files)) {
        if ((await hashOf(join(directory, path))) !== sha256) throw damaged(join(directory, path));
      }
    }
    return new Archive(directory, end, items);
  }

  async json<T>({ files }: ArchivedItem, name: string): Promise<T> {
    const file = files[name];
    if (file === undefined) throw new TypeError(`the item has no ${name}`);
    return JSON.parse(await readFile(join(this.directory, file.path), "utf8")) as T;
  }

  blob({ files }: ArchivedItem, name: string): Promise<Blob> {
    const file = files[name];
    if (file === undefined) throw new TypeError(`the item has no ${name}`);
    return openAsBlob(join(this.directory, file.path));
  }
}

/** The end of a backup; undefined for one that is not complete. @throws CliError for a damaged one */
export function endIn(directory: string): Promise<BackupEnd | undefined> {
  return read(join(directory, ENDED), endSchema);
}

/** @throws CliError for the backup of another server or tenant */
export function requireSource(
  directory: string,
  known: BackupStart,
  { url, tenant }: Pick<BackupStart, "url" | "tenant">,
): void {
  if (known.url === url && known.tenant === tenant) return;
  throw wrong(
    `${directory} has the beginning of a backup of tenant "${known.tenant}" at ${known.url}. Name another target.`,
    "other_backup",
  );
}

/** The hash of a file as hex; undefined without the file. */
export async function hashOf(
  file: string,
  algorithm: "md5" | "sha256" = "sha256",
): Promise<string | undefined> {
  if (!(await exists(file))) return undefined;
  const hash = createHash(algorithm);
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

async function read<T>(file: string, schema: z.ZodType<T>): Promise<T | undefined> {
  const content = await readText(file);
  return content === "" ? undefined : parsed(content, schema, file);
}

/** The content of a file; empty without it. */
export async function readText(file: string): Promise<string> {
  return (await exists(file)) ? readFile(file, "utf8") : "";
}

async function exists(file: string): Promise<boolean> {
  try {
    await stat(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}
