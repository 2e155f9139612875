import { existsSync } from "node:fs";
import { resolve } from "node:path";
import {
  bytes,
  flag,
  key,
  list,
  MB,
  oneOf,
  packages,
  seconds,
  type Setting,
  strictness,
  text,
  whole,
} from "./setting.ts";

const SETTINGS = {
  host: text("SANDBOX_HOST", "127.0.0.1", "Address to listen on."),
  port: whole("SANDBOX_PORT", 8788, 0, 65_535, "Port to listen on; 0 picks a free one."),
  key: key("SANDBOX_KEY", "Bearer key of clients. Required unless the host is a loopback address."),
  data: text("SANDBOX_DATA", ".troupe/sandbox", "Directory of stored sessions."),
  cache: text(
    "SANDBOX_CACHE",
    "node_modules/.cache/troupe-sandbox",
    "Cache directory, which makes the service start faster. It may be deleted.",
  ),
  packages: packages(
    "SANDBOX_PACKAGES",
    "Packages of Python, separated by commas. With `wasm` names of the lock file or `all`, and paths or addresses of wheels; with `process` requirements that `pip install` gets when the service starts.",
  ),
  packagesUrl: text(
    "SANDBOX_PACKAGES_URL",
    "",
    "Where the files of the lock file are. Default: Pyodide's distribution of this version.",
  ),
  packagesLock: text("SANDBOX_PACKAGES_LOCK", "", "Path of the lock file. Default: Pyodide's own."),
  isolation: oneOf("SANDBOX_ISOLATION", ["wasm", "process"], "How code is isolated."),
  python: text(
    "SANDBOX_PYTHON",
    "",
    "Python of `process`: the folder of a virtual environment or an interpreter. Default: `python3` of the `PATH`.",
  ),
  forceProcess: flag("SANDBOX_FORCE_PROCESS", "`1` allows `process` outside a container."),
  mcp: flag(
    "SANDBOX_MCP",
    "`1` lets components start programs of MCP servers where the isolation is not that of a container: they are programs of this machine.",
  ),
  maxPrograms: whole(
    "SANDBOX_MAX_PROGRAMS",
    16,
    0,
    1000,
    "Programs of MCP servers that run at the same time, at most 4 of one session.",
  ),
  maxProgramProcesses: whole(
    "SANDBOX_MAX_PROGRAM_PROCESSES",
    512,
    1,
    10_000,
    "Limit of the processes of a program of an MCP server, and of their threads (as root, or with cgroups).",
  ),
  network: flag(
    "SANDBOX_NETWORK",
    "`1` gives code the network of the service (`process` with namespaces; without them it has it).",
  ),
  readable: list(
    "SANDBOX_READABLE",
    "Directories that code may read besides the system's, such as those of MCP servers, separated by commas (`process` with namespaces).",
  ),
  strict: strictness(
    "SANDBOX_ISOLATION_STRICT",
    "Walls without which `process` does not start: `namespaces`, `cgroups`, or both, separated by a comma; `1` means both. Without it `process` does not start where bubblewrap works, but not with a directory that code may read; `0` lets it start there without namespaces.",
  ),
  maxBodyBytes: bytes(
    "SANDBOX_MAX_BODY_BYTES",
    10 * MB,
    "Largest body of a request to execute code.",
  ),
  maxBlocks: whole("SANDBOX_MAX_BLOCKS", 32, 1, 1000, "Most blocks of one request."),
  timeoutSeconds: seconds(
    "SANDBOX_TIMEOUT_SECONDS",
    60,
    "Time limit of a block, if the request has none.",
  ),
  maxTimeoutSeconds: seconds(
    "SANDBOX_MAX_TIMEOUT_SECONDS",
    600,
    "Highest time limit that a request may set.",
  ),
  memoryBytes: bytes(
    "SANDBOX_MEMORY_BYTES",
    512 * MB,
    "Memory limit of a block, and of a program of an MCP server.",
  ),
  maxProcesses: whole(
    "SANDBOX_MAX_PROCESSES",
    64,
    1,
    10_000,
    "Limit of the processes of a block, and of their threads (`process` as root, or with cgroups).",
  ),
  outputBytes: bytes(
    "SANDBOX_OUTPUT_BYTES",
    MB,
    "Output that is kept; beyond it, the result is `truncated`.",
  ),
  maxOutputBytes: bytes(
    "SANDBOX_MAX_OUTPUT_BYTES",
    64 * MB,
    "Output after which the code is stopped.",
  ),
  workspaceBytes: bytes("SANDBOX_WORKSPACE_BYTES", 100 * MB, "Size of all files of a session."),
  workspaceFiles: whole(
    "SANDBOX_WORKSPACE_FILES",
    2000,
    1,
    1_000_000,
    "Number of files, directories and links of a session.",
  ),
  temporaryBytes: bytes(
    "SANDBOX_TEMPORARY_BYTES",
    256 * MB,
    "Size of the files that code leaves outside of its workspace, in `/tmp` and elsewhere (`process`).",
  ),
  maxFileBytes: bytes("SANDBOX_MAX_FILE_BYTES", 25 * MB, "Largest file that a client may write."),
  maxSessions: whole("SANDBOX_MAX_SESSIONS", 10_000, 1, 10_000_000, "Number of sessions."),
  concurrency: whole(
    "SANDBOX_CONCURRENCY",
    4,
    1,
    1000,
    "Requests that run at the same time; each session runs one at a time.",
  ),
  reserved: whole(
    "SANDBOX_RESERVED",
    2,
    0,
    1000,
    "Additional requests that run at the same time, of sessions with little recent code.",
  ),
  shortSeconds: seconds(
    "SANDBOX_SHORT_SECONDS",
    3,
    "Running time in the last minutes up to which a session has little recent code.",
  ),
  maxWaiting: whole(
    "SANDBOX_MAX_WAITING",
    64,
    0,
    100_000,
    "Requests that may wait; more are refused (429).",
  ),
  maxSessionWaiting: whole(
    "SANDBOX_MAX_SESSION_WAITING",
    16,
    0,
    100_000,
    "Requests of one session that may wait; more are refused (429).",
  ),
  idleSeconds: seconds(
    "SANDBOX_IDLE_SECONDS",
    604_800,
    "Time without executions and writes after which a session is deleted.",
  ),
  warmSeconds: seconds(
    "SANDBOX_WARM_SECONDS",
    300,
    "Time for which the interpreter of an idle session is kept.",
  ),
  maxWarm: whole("SANDBOX_MAX_WARM", 4, 0, 1000, "Interpreters of idle sessions that are kept."),
  pool: whole("SANDBOX_POOL", 2, 0, 100, "Interpreters that are ready for new sessions (`wasm`)."),
  recordedResults: whole(
    "SANDBOX_RECORDED_RESULTS",
    100,
    1,
    10_000,
    "Results that a session keeps for repeated keys.",
  ),
  firstUid: whole(
    "SANDBOX_FIRST_UID",
    60_750,
    1000,
    2_000_000_000,
    "First of the 400 users that code runs as, a different one for each session (`process` as root).",
  ),
} satisfies Record<string, Setting<unknown>>;

export type Settings = {
  readonly [Name in keyof typeof SETTINGS]: (typeof SETTINGS)[Name] extends Setting<infer T>
    ? T
    : never;
};

/** All settings with their defaults, for the documentation. */
export const settingList: readonly { name: string; fallback: string; description: string }[] =
  Object.values(SETTINGS);

export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

/** @throws SettingsError that names every invalid setting */
export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const problems: string[] = [];
  const read = (setting: Setting<unknown>): unknown => {
    const given = env[setting.name];
    try {
      return setting.parse(given === undefined || given === "" ? setting.fallback : given);
    } catch (error) {
      problems.push(`${setting.name} ${(error as Error).message}`);
      return undefined;
    }
  };
  const settings = Object.fromEntries(
    Object.entries(SETTINGS).map(([name, setting]) => [name, read(setting)]),
  ) as Settings;
  if (problems.length === 0) problems.push(...contradictions(settings));
  if (problems.length > 0) throw new SettingsError(problems.join("\n"));
  return {
    ...settings,
    data: resolve(settings.data),
    cache: resolve(settings.cache),
    readable: settings.readable.map((directory) => resolve(directory)),
  };
}

function contradictions(settings: Settings): string[] {
  const problems: string[] = [];
  if (settings.key === undefined && !isLoopback(settings.host))
    problems.push(
      `SANDBOX_KEY is required when SANDBOX_HOST is ${settings.host}: without it, anyone who reaches the service can run code`,
    );
  if (settings.python !== "" && settings.isolation !== "process")
    problems.push("SANDBOX_PYTHON is for SANDBOX_ISOLATION=process only");
  if (settings.timeoutSeconds > settings.maxTimeoutSeconds)
    problems.push("SANDBOX_TIMEOUT_SECONDS must not be more than SANDBOX_MAX_TIMEOUT_SECONDS");
  const missing = settings.readable.filter((directory) => !existsSync(directory));
  if (missing.length > 0)
    problems.push(`SANDBOX_READABLE names directories that do not exist: ${missing.join(", ")}`);
  return problems;
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}
