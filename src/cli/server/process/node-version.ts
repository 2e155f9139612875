import { spawn } from "node:child_process";
import { once } from "node:events";
import { CliError } from "../../terminal/errors.ts";

/** The oldest Node of the package. */
const OLDEST_NODE = [22, 12] as const;
/** Before 22.13, Node has the module that locks the state behind a flag. */
const SQLITE_FLAGS = "--experimental-sqlite --disable-warning=ExperimentalWarning";

/**
 * Makes sure that this program runs in a Node that has SQLite. Where Node has it behind a flag, the program runs again with the
 * flag, and this process ends with it.
 *
 * @throws CliError when Node is too old
 */
export async function requireNodeWithSqlite(): Promise<void> {
  requireNode();
  if (process.getBuiltinModule("node:sqlite") === undefined) process.exit(await runWithSqlite());
}

/** Runs this program again, with the flag for all processes that it starts. @returns the exit code */
async function runWithSqlite(): Promise<number> {
  const { NODE_OPTIONS = "" } = process.env;
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: "inherit",
    env: { ...process.env, NODE_OPTIONS: `${NODE_OPTIONS} ${SQLITE_FLAGS}` },
  });
  // A terminal sends Ctrl-C to both; the child ends by itself when this process is killed.
  process.on("SIGINT", () => undefined);
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}

/** @throws CliError */
function requireNode(): void {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const [oldest, oldestMinor] = OLDEST_NODE;
  if (major > oldest || (major === oldest && minor >= oldestMinor)) return;
  throw new CliError(
    `A local server needs Node ${OLDEST_NODE.join(".")} or later; this is ${process.versions.node}. "npm install --save-dev node" gives the project its own.`,
  );
}
