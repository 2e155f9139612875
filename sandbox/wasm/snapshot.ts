import { createHash, randomUUID } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FRAME, CHUNK_BYTES, FrameReader } from "./frames.ts";
import { startChild } from "./process.ts";

const HEAP_BYTES = 1024 * 1024 * 1024;

/** The file with the memory of a ready interpreter. Created if the directory has none of the current versions. */
export async function snapshotFile(directory: string): Promise<string> {
  const file = join(directory, `python-${versions()}.snapshot`);
  if (existsSync(file)) return file;
  mkdirSync(directory, { recursive: true });
  // Renamed when complete: another service may look for it at the same time.
  const unfinished = `${file}.${randomUUID()}`;
  writeFileSync(unfinished, await make());
  renameSync(unfinished, file);
  return file;
}

/** A hash of everything that determines the contents of the snapshot. */
function versions(): string {
  const hash = createHash("sha256").update(process.version);
  hash.update(readFileSync(fileURLToPath(import.meta.resolve("pyodide/package.json"))));
  const child = join(import.meta.dirname, "child");
  for (const name of readdirSync(child).toSorted()) hash.update(readFileSync(join(child, name)));
  return hash.digest("hex").slice(0, 16);
}

function make(): Promise<Uint8Array> {
  const child = startChild(["make"], [], HEAP_BYTES);
  const reader = new FrameReader(CHUNK_BYTES);
  const pieces: Uint8Array[] = [];
  let complete = false;
  return new Promise((done, failed) => {
    child.output.on("data", (piece: Uint8Array) => {
      for (const { type, body } of reader.push(piece)) {
        if (type === FRAME.snapshot) pieces.push(body);
        complete = type === FRAME.ready;
      }
    });
    child.process.on("error", failed);
    child.process.on("close", (code) => {
      if (complete) done(Buffer.concat(pieces));
      else
        failed(
          new Error(
            `The snapshot of Python could not be made (exit code ${code}): ${child.errors()}`,
          ),
        );
    });
  });
}
