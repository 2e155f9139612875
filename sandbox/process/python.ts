import { execFile } from "node:child_process";
import { existsSync, readlinkSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import * as z from "zod";

/** The oldest Python that can inspect functions. */
const OLDEST = [3, 9] as const;
const PROBE_MS = 30_000;

const PROBE = `
import json, sys
print(json.dumps({"version": sys.version_info[:3], "prefix": sys.prefix, "base": sys.base_prefix}))
`;

const probeSchema = z.object({
  version: z.tuple([z.number(), z.number(), z.number()]),
  prefix: z.string(),
  base: z.string(),
});

/** A Python that runs code in place of the one in the `PATH`. */
export interface Python {
  /** The interpreter; of a virtual environment, the one in its folder `bin`. */
  program: string;
  /** The folder of the virtual environment; undefined for an interpreter without one. */
  environment: string | undefined;
  /** The folders that it reads: libraries, and the links that lead to the interpreter. */
  folders: readonly string[];
}

/**
 * Finds the Python that an operator names.
 *
 * @param given the folder of a virtual environment, or an interpreter
 * @param uid the user that runs code; undefined for the user of the service
 * @throws Error that continues "NAME is ..." with what is wrong and what is allowed
 */
export async function findPython(given: string, uid: number | undefined): Promise<Python> {
  const refuse = (why: string): Error =>
    new Error(
      `is "${given}", ${why}: it must be the folder of a virtual environment ("python3 -m venv ${given}" makes one) or a Python interpreter, version ${OLDEST.join(".")} or later`,
    );
  const path = resolve(given);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw refuse("which does not exist");
  const program = stats.isDirectory() ? join(path, "bin/python") : path;
  if (!existsSync(program)) throw refuse("a folder without bin/python");
  const { version, prefix, base } = await probe(program, uid).catch((error: unknown) => {
    throw refuse(whyNot(error));
  });
  if (version[0] < OLDEST[0] || (version[0] === OLDEST[0] && version[1] < OLDEST[1]))
    throw refuse(`which is Python ${version.join(".")}`);
  const folders = [prefix, base, ...linksTo(program).map(dirname)];
  return {
    program,
    environment: prefix === base ? undefined : prefix,
    // Behind walls, a link to an interpreter in the home does not make the home visible.
    folders: [...new Set(folders)].filter((folder) => folder !== "/" && folder !== homedir()),
  };
}

async function probe(
  program: string,
  uid: number | undefined,
): Promise<z.infer<typeof probeSchema>> {
  const { stdout } = await promisify(execFile)(program, ["-I", "-c", PROBE], {
    cwd: "/",
    env: {},
    timeout: PROBE_MS,
    ...(uid !== undefined && { uid, gid: uid }),
  });
  return probeSchema.parse(JSON.parse(stdout));
}

function whyNot(error: unknown): string {
  if (error instanceof Error && "code" in error && error.code === "EACCES")
    return "which the user that runs code cannot start, because it or a folder above it lacks the permission x for others";
  return "which does not run as Python";
}

/** A path and what each of its links names, up to the file itself. */
function linksTo(path: string): string[] {
  const paths = [path];
  for (let at = path; paths.length < 20;) {
    const target = linkAt(at);
    if (target === undefined) break;
    at = resolve(dirname(at), target);
    paths.push(at);
  }
  return paths;
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
