import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import pyodide from "pyodide/package.json" with { type: "json" };
import { Lock, type LockedPackage } from "./lock.ts";
import { WheelStore } from "./store.ts";
import { type Target, wheelName } from "./wheel-name.ts";

/** A package that code can import. */
export interface PackageInfo {
  name: string;
  version: string;
}

interface PlannedWheel extends PackageInfo {
  file: string;
  sha256: string;
}

/** What the interpreter of a sandbox has besides the standard library. */
export interface PackagePlan {
  wheels: readonly PlannedWheel[];
  /** Modules of packages that are all Python: the snapshot has them imported. */
  snapshotImports: readonly string[];
  /** Modules with machine code, which a snapshot cannot have: each process imports them when it starts. */
  startImports: readonly string[];
}

export const NO_PACKAGES: PackagePlan = { wheels: [], snapshotImports: [], startImports: [] };

export interface PlanOptions {
  /** Names of the lock file, `all`, or paths and addresses of wheels. */
  packages: readonly string[];
  /** Base address of the wheels of the lock file; empty for Pyodide's own distribution. */
  baseUrl: string;
  /** Path of the lock file; empty for Pyodide's. */
  lockFile: string;
  cacheDirectory: string;
  log: (line: string) => void;
}

/**
 * Fetches packages with their dependencies and verifies them. A package that fails is left out, with a line in the log that
 * says why.
 */
export async function planPackages(options: PlanOptions): Promise<PackagePlan> {
  const { packages, cacheDirectory, log } = options;
  if (packages.length === 0) return NO_PACKAGES;
  const store = new WheelStore(join(cacheDirectory, "wheels"));
  const pyodideLock = new Lock(readFileSync(PYODIDE_LOCK, "utf8"));
  const { lockFile } = options;
  const lock = lockFile === "" ? pyodideLock : new Lock(readFileSync(lockFile, "utf8"));
  const wanted = packages.flatMap((given) => (given === "all" ? lock.names : [given]));
  const planned = await Promise.all(
    [...new Set(wanted)].map(async (given) => {
      try {
        return isFile(given)
          ? await ownWheel(given, store, pyodideLock.target)
          : await locked(given, lock, store, { ...options, target: pyodideLock.target });
      } catch (error) {
        log(`SANDBOX_PACKAGES: ${given} is left out: ${(error as Error).message}.`);
        return NO_PACKAGES;
      }
    }),
  );
  return {
    wheels: [
      ...new Map(planned.flatMap(({ wheels }) => wheels).map((one) => [one.sha256, one])).values(),
    ],
    snapshotImports: planned.flatMap(({ snapshotImports }) => snapshotImports),
    startImports: planned.flatMap(({ startImports }) => startImports),
  };
}

const PYODIDE_LOCK = fileURLToPath(import.meta.resolve("pyodide/pyodide-lock.json"));

const PYODIDE_URL = `https://cdn.jsdelivr.net/pyodide/v${pyodide.version}/full/`;

function isFile(given: string): boolean {
  return /\.whl(#|$)/.test(given);
}

async function locked(
  name: string,
  lock: Lock,
  store: WheelStore,
  { baseUrl, target }: PlanOptions & { target: Target },
): Promise<PackagePlan> {
  const closure = lock.closure(name);
  const pure = closure
    .map(({ file_name: file }) => wheelName(file, target).pure)
    .every((one) => one);
  const base = (baseUrl || PYODIDE_URL).replace(/\/?$/, "/");
  const wheels = await Promise.all(
    closure.map(async (one: LockedPackage) => ({
      name: one.name,
      version: one.version,
      sha256: one.sha256,
      file: await store.fetched(new URL(one.file_name, base).href, one.sha256),
    })),
  );
  const imports = closure.at(-1)?.imports ?? [];
  return {
    wheels,
    snapshotImports: pure ? imports : [],
    startImports: pure ? [] : imports,
  };
}

/** A wheel by its path or address; `#sha256=...` after it is its expected hash. */
async function ownWheel(given: string, store: WheelStore, target: Target): Promise<PackagePlan> {
  const [source = "", fragment = ""] = given.split("#");
  const { name, version } = wheelName(basename(source), target);
  const expected = /^sha256=([0-9a-f]{64})$/.exec(fragment)?.[1];
  if (fragment !== "" && expected === undefined)
    throw new Error("after # only sha256=HEX is allowed");
  const { file, sha256 } = await store.added(source);
  if (expected !== undefined && expected !== sha256)
    throw new Error(`it has the hash ${sha256}, and ${expected} is expected`);
  return { ...NO_PACKAGES, wheels: [{ name, version, file, sha256 }] };
}
