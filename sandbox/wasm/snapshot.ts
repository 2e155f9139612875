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
import { CHUNK_BYTES, encodeFrame, FRAME, FrameReader, type FrameType } from "./frames.ts";
import { startChild } from "./process.ts";
import type { PackageInfo, PackagePlan } from "./wheels/plan.ts";

const HEAP_BYTES = 1024 * 1024 * 1024;

/** A ready interpreter, stored in files. */
export interface Snapshot {
  /** Its memory. */
  file: string;
  /** The files of its packages, as frames. */
  files: string;
  /** Packages that were installed. */
  packages: readonly PackageInfo[];
  /** What went wrong with the others. */
  failures: readonly string[];
}

/** The stored snapshot. Created if the directory has none of the current versions with these packages. */
export async function snapshotOf(directory: string, plan: PackagePlan): Promise<Snapshot> {
  const name = join(directory, `python-${versions(plan)}`);
  const [file, files, about] = [`${name}.snapshot`, `${name}.files`, `${name}.json`];
  if (![file, files, about].every((stored) => existsSync(stored))) {
    mkdirSync(directory, { recursive: true });
    const made = await make(plan);
    // Renamed when complete: another service may look for it at the same time.
    for (const [stored, content] of [
      [files, Buffer.concat(made.files)],
      [about, JSON.stringify(made.about)],
      [file, Buffer.concat(made.memory)],
    ] as const) {
      const unfinished = `${stored}.${randomUUID()}`;
      writeFileSync(unfinished, content);
      renameSync(unfinished, stored);
    }
  }
  const { installed, failures } = JSON.parse(readFileSync(about, "utf8")) as About;
  return {
    file,
    files,
    packages: plan.wheels
      .filter(({ sha256 }) => installed.includes(sha256))
      .map((wheel) => ({ name: wheel.name, version: wheel.version }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    failures,
  };
}

/** A hash of everything that determines the contents of the snapshot. */
function versions({ wheels, snapshotImports }: PackagePlan): string {
  const hash = createHash("sha256").update(process.version);
  hash.update(readFileSync(fileURLToPath(import.meta.resolve("pyodide/package.json"))));
  const child = join(import.meta.dirname, "child");
  for (const name of readdirSync(child).toSorted()) hash.update(readFileSync(join(child, name)));
  hash.update(JSON.stringify([wheels.map(({ sha256 }) => sha256), snapshotImports]));
  return hash.digest("hex").slice(0, 16);
}

/** What the child says about the packages. */
interface About {
  /** Hashes of wheels. */
  installed: string[];
  failures: string[];
}

interface Made {
  memory: Uint8Array[];
  files: Uint8Array[];
  about: About;
}

function make({ wheels, snapshotImports }: PackagePlan): Promise<Made> {
  const files = wheels.map(({ file }) => file);
  const child = startChild(
    ["make", JSON.stringify({ wheels, snapshotImports })],
    files,
    HEAP_BYTES,
  );
  const reader = new FrameReader(CHUNK_BYTES);
  const made: Made = { memory: [], files: [], about: { installed: [], failures: [] } };
  let complete = false;
  return new Promise((done, failed) => {
    child.output.on("data", (piece: Uint8Array) => {
      for (const { type, body } of reader.push(piece)) {
        if (type === FRAME.snapshot) made.memory.push(body);
        else if (type !== FRAME.ready) made.files.push(encodeFrame(type as FrameType, body));
        else {
          made.about = JSON.parse(new TextDecoder().decode(body)) as About;
          complete = true;
        }
      }
    });
    child.process.on("error", failed);
    child.process.on("close", (code) => {
      if (complete) done(made);
      else
        failed(
          new Error(
            `The snapshot of Python could not be made (exit code ${code}): ${child.errors()}`,
          ),
        );
    });
  });
}
