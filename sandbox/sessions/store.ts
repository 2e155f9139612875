import { createHash, randomBytes } from "node:crypto";
import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { blobsOf, decodeManifest, encodeManifest, type Manifest } from "./manifest.ts";

/**
 * The directory of one session: a manifest, and the blobs it names. Blobs are written before the manifest that names them and are
 * never changed; the manifest is replaced by a rename. So after a crash at any moment there is either the old manifest or the
 * new one, complete, with all of its blobs.
 */
export class SessionStore {
  readonly #session: string;
  readonly #directory: string;
  /** Blobs written since the last commit, which no manifest names yet. */
  #fresh = new Set<string>();
  #named = new Set<string>();

  constructor(directory: string, session: string) {
    this.#session = session;
    this.#directory = directory;
  }

  /** Loads the last commit, if there is one, and removes unnamed blobs that a crash left. */
  async load(): Promise<Manifest | undefined> {
    const text = await unlessMissing(readFile(this.#manifest, "utf8"));
    if (text === undefined) return undefined;
    const manifest = decodeManifest(this.#session, text);
    this.#named = blobsOf(manifest);
    const there = (await unlessMissing(readdir(this.#blobs))) ?? [];
    await this.#remove(there.filter((blob) => !this.#named.has(blob)));
    return manifest;
  }

  /** Replaces the manifest. The new one survives a crash from then on. */
  async commit(manifest: Manifest): Promise<void> {
    if (this.#fresh.size > 0) await sync(this.#blobs);
    await this.#prepare();
    const next = `${this.#manifest}.next`;
    await write(next, encodeManifest(this.#session, manifest));
    await rename(next, this.#manifest);
    await sync(this.#directory);
    for (const blob of blobsOf(manifest)) {
      this.#named.add(blob);
      this.#fresh.delete(blob);
    }
  }

  /** Removes blobs that the current manifest does not name. No other action may use blobs meanwhile. */
  async sweep(manifest: Manifest): Promise<void> {
    const named = blobsOf(manifest);
    const unnamed = [...this.#named, ...this.#fresh].filter((blob) => !named.has(blob));
    this.#named = named;
    this.#fresh = new Set();
    await this.#remove(unnamed);
  }

  /** Stores bytes. Resolves with the name of the blob. */
  async put(bytes: Uint8Array | string): Promise<string> {
    await this.#prepare();
    const blob = randomBytes(16).toString("hex");
    this.#fresh.add(blob);
    await write(join(this.#blobs, blob), bytes);
    return blob;
  }

  /** Stores bytes while they arrive. Resolves with the name and the size of the blob. */
  async putStream(chunks: AsyncIterable<Uint8Array>): Promise<{ blob: string; size: number }> {
    await this.#prepare();
    const blob = randomBytes(16).toString("hex");
    this.#fresh.add(blob);
    const handle = await open(join(this.#blobs, blob), "w", 0o600);
    let size = 0;
    try {
      for await (const chunk of chunks) {
        await handle.writeFile(chunk);
        size += chunk.byteLength;
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    return { blob, size };
  }

  /** Opens a blob for reading; undefined when it was removed. */
  open(blob: string): Promise<FileHandle | undefined> {
    return unlessMissing(open(join(this.#blobs, blob)));
  }

  read(blob: string): Promise<Buffer> {
    return readFile(join(this.#blobs, blob));
  }

  /** Time of the last commit; undefined before the first. */
  async changedAt(): Promise<Date | undefined> {
    return (await unlessMissing(stat(this.#manifest)))?.mtime;
  }

  get #manifest(): string {
    return join(this.#directory, "manifest.json");
  }

  get #blobs(): string {
    return join(this.#directory, "blobs");
  }

  async #prepare(): Promise<void> {
    const made = await mkdir(this.#blobs, { recursive: true, mode: 0o700 });
    if (made === undefined) return;
    await sync(this.#directory);
    await sync(dirname(this.#directory));
  }

  async #remove(blobs: readonly string[]): Promise<void> {
    for (const blob of blobs) await rm(join(this.#blobs, blob), { force: true });
  }
}

/** The name of a session's directory: a hash, so that names chosen by clients never become paths. */
export function directoryName(session: string): string {
  return createHash("sha256").update(session).digest("hex");
}

/** Resolves with undefined when there is no such file. */
export async function unlessMissing<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Syncs a directory, so that its entries survive a crash of the machine. */
export async function sync(directory: string): Promise<void> {
  const handle = await open(directory);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function write(path: string, content: Uint8Array | string): Promise<void> {
  const handle = await open(path, "w", 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
