import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { guardChild } from "../guard.ts";
import { codePath } from "./code-path.ts";
import type { Python } from "./python.ts";

/** Time for pip, which may have to build a package. */
const INSTALL_MS = 900_000;
/** Characters of pip's output in the line of a package that cannot be installed. */
const REASON_LENGTH = 500;

export interface InstallOptions {
  /** Requirements as `pip install` takes them. */
  requirements: readonly string[];
  /** The Python that the operator named. */
  python: Python | undefined;
  /** Where an environment is made if that Python has none. */
  cacheDirectory: string;
  /** The environment variables of pip: its settings and the `PATH`. */
  env: Readonly<Record<string, string | undefined>>;
  log: (line: string) => void;
}

/**
 * Installs packages with pip: into the virtual environment that the operator named, otherwise into one of the sandbox's own, which
 * sees the packages of its interpreter. A package that cannot be installed is left out, with a line in the log that says why.
 *
 * @returns the path of the environment; undefined where none can be made
 */
export async function installPackages({
  requirements,
  python,
  cacheDirectory,
  env,
  log,
}: InstallOptions): Promise<string | undefined> {
  const environment =
    python?.environment ?? (await ownEnvironment(python?.program, cacheDirectory, env, log));
  if (environment === undefined) return undefined;
  const pip = (wanted: readonly string[]): Promise<string | undefined> =>
    failureOf(
      join(environment, "bin/python"),
      [
        "-I",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-input",
        "--disable-pip-version-check",
        ...wanted,
      ],
      env,
    );
  if ((await pip(requirements)) === undefined) return environment;
  // One that fails must not keep the others out.
  for (const one of requirements) {
    const why = await pip([one]);
    if (why !== undefined) log(`The package ${one} is left out: ${why}`);
  }
  return environment;
}

/** A virtual environment in the cache, which is kept for the next start. */
async function ownEnvironment(
  program: string | undefined,
  cacheDirectory: string,
  env: InstallOptions["env"],
  log: (line: string) => void,
): Promise<string | undefined> {
  const found = codePath(env["PATH"] ?? "").map((directory) => join(directory, "python3"));
  const base = program ?? found.find(existsSync);
  if (base === undefined) {
    log("SANDBOX_PACKAGES has no effect: there is no python3 in the PATH.");
    return undefined;
  }
  const id = createHash("sha256").update(realpathSync(base)).digest("hex").slice(0, 8);
  const folder = join(cacheDirectory, `python-${id}`);
  if (existsSync(join(folder, "bin/pip"))) return folder;
  await rm(folder, { recursive: true, force: true });
  await mkdir(cacheDirectory, { recursive: true });
  const why = await failureOf(base, ["-I", "-m", "venv", "--system-site-packages", folder], env);
  if (why === undefined) return folder;
  log(`SANDBOX_PACKAGES has no effect: ${base} cannot make a virtual environment: ${why}`);
  return undefined;
}

/** Runs a program. @returns the end of its output when it fails */
async function failureOf(
  program: string,
  args: readonly string[],
  env: InstallOptions["env"],
): Promise<string | undefined> {
  // What builds a package must not find the key of the service.
  const own = Object.entries(env).filter(([name]) => !name.startsWith("SANDBOX_"));
  const running = promisify(execFile)(program, args, {
    env: Object.fromEntries(own),
    timeout: INSTALL_MS,
  });
  guardChild(running.child);
  try {
    await running;
    return undefined;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    const said = `${stdout}\n${stderr}`.trim() || String(error);
    const lines = said.slice(-REASON_LENGTH).split("\n");
    return lines.map((line) => line.trim()).join(" ");
  }
}
