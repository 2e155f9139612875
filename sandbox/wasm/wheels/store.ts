import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Time to fetch a wheel. */
const FETCH_MS = 60_000;

const MAX_WHEEL_BYTES = 500_000_000;

/** Wheels on disk, by their hash. */
export class WheelStore {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** The file of a wheel, which is fetched unless it is there. @throws Error that says what is wrong with it */
  async fetched(url: string, sha256: string): Promise<string> {
    const file = this.#file(sha256);
    const stored = await readFile(file).catch(() => undefined);
    // The disk may have changed it, too.
    if (stored !== undefined && hashOf(stored) === sha256) return file;
    const bytes = await download(url);
    const actual = hashOf(bytes);
    if (actual !== sha256)
      throw new Error(`${url} has the hash ${actual}, and ${sha256} is expected`);
    await this.#write(file, bytes);
    return file;
  }

  /** Stores a wheel that has no expected hash. @throws Error */
  async added(source: string): Promise<{ file: string; sha256: string }> {
    const bytes = /^https?:/i.test(source) ? await download(source) : await readFile(source);
    const sha256 = hashOf(bytes);
    const file = this.#file(sha256);
    await this.#write(file, bytes);
    return { file, sha256 };
  }

  #file(sha256: string): string {
    return join(this.#directory, `${sha256}.whl`);
  }

  async #write(file: string, bytes: Uint8Array): Promise<void> {
    await mkdir(this.#directory, { recursive: true });
    // Renamed when complete: another service may look for it at the same time.
    const unfinished = `${file}.${randomUUID()}`;
    await writeFile(unfinished, bytes);
    await rename(unfinished, file);
  }
}

async function download(url: string): Promise<Uint8Array> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(FETCH_MS) });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of response.body ?? []) {
      length += chunk.byteLength;
      if (length > MAX_WHEEL_BYTES) throw new Error(`more than ${MAX_WHEEL_BYTES} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    const { message, cause } = error as Error;
    const why = cause instanceof Error ? cause.message : message;
    throw new Error(`${url} cannot be fetched: ${why}`, { cause: error });
  }
}

function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
