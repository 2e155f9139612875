import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import type { LanguageInfo } from "../runner.ts";

const run = promisify(execFile);

/** A language with its interpreter. */
export interface Interpreter extends LanguageInfo {
  /** The command; the path of a file follows. */
  command: readonly string[];
  /** Reserves far more address space than it uses, so address space cannot be limited. */
  reservesMemory: boolean;
}

interface Candidate {
  name: string;
  aliases: readonly string[];
  /** The first one that exists is used. */
  programs: readonly string[];
  version: readonly string[];
  /** Arguments that print the installed packages, as JSON. */
  packages?: readonly string[];
  reservesMemory: boolean;
}

const PYTHON_PACKAGES = `
import importlib.metadata, json
found = {one.metadata["Name"]: one.version for one in importlib.metadata.distributions()}
print(json.dumps([{"name": name, "version": found[name]} for name in sorted(filter(None, found))]))
`;

const CANDIDATES: readonly Candidate[] = [
  {
    name: "python",
    aliases: ["py", "python3"],
    programs: ["python3", "python"],
    version: ["--version"],
    packages: ["-I", "-c", PYTHON_PACKAGES],
    reservesMemory: false,
  },
  { name: "sh", aliases: ["shell"], programs: ["sh"], version: [], reservesMemory: false },
  {
    name: "bash",
    aliases: [],
    programs: ["bash", "sh"],
    version: ["-c", 'echo "${BASH_VERSION-}"'],
    reservesMemory: false,
  },
  {
    name: "javascript",
    aliases: ["js", "node"],
    programs: ["node"],
    version: ["--version"],
    reservesMemory: true,
  },
];

/**
 * Finds the languages with an interpreter in the path.
 *
 * @param python runs Python in place of the interpreter in the path
 */
export async function findInterpreters(path: string, python?: string): Promise<Interpreter[]> {
  const found = await Promise.all(
    CANDIDATES.map((candidate) =>
      find(candidate, path, candidate.name === "python" ? python : undefined),
    ),
  );
  return found.filter((interpreter) => interpreter !== undefined);
}

async function find(
  candidate: Candidate,
  path: string,
  named: string | undefined,
): Promise<Interpreter | undefined> {
  const { name, aliases, reservesMemory } = candidate;
  const program = named ?? (await firstOf(candidate.programs, path));
  if (program === undefined) return undefined;
  const version = candidate.version.length === 0 ? "" : await versionOf(program, candidate.version);
  const packages = candidate.packages && (await packagesOf(program, candidate.packages));
  return {
    name,
    aliases,
    version,
    command: [program],
    reservesMemory,
    ...(packages && { packages }),
  };
}

async function packagesOf(
  program: string,
  args: readonly string[],
): Promise<NonNullable<LanguageInfo["packages"]>> {
  const { stdout } = await run(program, args);
  return JSON.parse(stdout) as NonNullable<LanguageInfo["packages"]>;
}

async function firstOf(programs: readonly string[], path: string): Promise<string | undefined> {
  const files = programs.flatMap((program) =>
    path.split(delimiter).map((directory) => join(directory, program)),
  );
  for (const file of files) {
    const executable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (executable) return file;
  }
  return undefined;
}

async function versionOf(program: string, args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run(program, args);
  return /(?<!\d)\d+(\.\d+)+/.exec(stdout + stderr)?.[0] ?? "";
}
