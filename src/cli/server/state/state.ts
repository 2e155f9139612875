import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LocalKey, LocalKeys } from "./generated-keys.ts";
import { errorMessage } from "../../../core/errors.ts";
import { commandLineOf } from "../process/parent.ts";
import { tryLock } from "./state-lock.ts";
import { removeEmptyDatabases, unlistedTeams } from "./databases.ts";

const PAGE_BYTES = 4_096;
/** A write needs its page, a page of the journal, and some for the indexes of both. */
const LEAST_FREE_BYTES = 16 * PAGE_BYTES;

/** The longest wait for a server that is stopping. */
const LOCKED_WITHIN_MS = 1_000;

/** The file that says that no team of an early version is unlisted. */
const LISTED = "teams-listed";

export interface StartCommand {
  /** The option or variable that names the directory of the state. */
  directoryOption: string;
  withState: (directory: string, port: number) => string;
}

/**
 * The directory that a server keeps its state in. Only one server may use it at a time: two servers would run the same teams
 * twice and corrupt their runs.
 */
export class State {
  readonly directory: string;
  readonly #command: StartCommand;

  /**
   * @param command the command that starts a server with another state and port, for the error of a state that is in use
   */
  constructor(directory: string, command: StartCommand) {
    this.directory = directory;
    this.#command = command;
  }

  /**
   * Locks the directory until this process ends.
   *
   * @param port the port of this server, which the error of a second start on the same state names
   * @throws Error naming the server that uses the directory, or why it cannot be written
   */
  async lock(port: number): Promise<void> {
    this.#requireWritable();
    const deadline = Date.now() + LOCKED_WITHIN_MS;
    while (!tryLock(this.#path("start.lock"))) {
      if (Date.now() > deadline) throw new Error(this.#takenBy(port));
      await sleep(50);
    }
    this.#write("server.json", `${JSON.stringify({ pid: process.pid, port })}\n`);
    await this.#endRuntime();
  }

  /**
   * Notes the process that writes to the databases, which the next start ends if this process cannot.
   *
   * @param argument one that no other program has: the number may belong to another process by then
   */
  noteRuntime(pid: number, argument: string): void {
    this.#write("runtime.json", `${JSON.stringify({ pid, argument })}\n`);
  }

  /** Forgets the process: it has ended. */
  forgetRuntime(): void {
    rmSync(this.#path("runtime.json"), { force: true });
  }

  /**
   * Ids of teams that no list shows yet. They are looked for once, because each team's database has to be opened: teams of this
   * version are listed.
   */
  unlistedTeams(): string[] {
    return existsSync(this.#path(LISTED)) ? [] : unlistedTeams(this.directory);
  }

  /** Notes that the teams of early versions are listed. */
  noteListed(): void {
    this.#write(LISTED, "");
  }

  /** Removes what the runtime leaves of deleted objects. It must not run meanwhile. */
  removeEmptyDatabases(): void {
    removeEmptyDatabases(this.directory);
  }

  /** Waits until the wrangler of a killed start, and its workerd, have ended. A start of wrangler waits by itself. */
  async waitForWrangler(): Promise<void> {
    while (!tryLock(this.runtimeLock)) await sleep(50);
  }

  /** Ends the runtime of a start that was killed. It would write to the databases until then. */
  async #endRuntime(): Promise<void> {
    const path = this.#path("runtime.json");
    if (!existsSync(path)) return;
    const { pid, argument } = JSON.parse(readFileSync(path, "utf8")) as {
      pid: number;
      argument: string;
    };
    while (commandLineOf(pid).includes(` ${argument} `)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has just ended, or belongs to another user.
        break;
      }
      await sleep(50);
    }
    this.forgetRuntime();
  }

  /**
   * True if the disk has too little space.
   *
   * @param leastFreeBytes by default what the data of a request needs
   */
  diskIsFull(leastFreeBytes = LEAST_FREE_BYTES): boolean {
    const { bavail, bsize } = statfsSync(this.directory);
    return bavail * bsize < leastFreeBytes;
  }

  /** The file that wrangler locks while it runs. The wrangler of a killed start keeps it locked for a moment. */
  get runtimeLock(): string {
    return this.#path("runtime.lock");
  }

  /** The directory of the sandbox's sessions. */
  get sandbox(): string {
    return this.#path("sandbox");
  }

  /**
   * Writes the variables of the Worker into a file, because arguments and environments of processes can be read by others.
   * Wrangler reads it again on each reload.
   *
   * @returns its path
   */
  writeVars(vars: Readonly<Record<string, string>>): string {
    this.#write("vars.env", toEnvFile(vars));
    return this.#path("vars.env");
  }

  removeVars(): void {
    rmSync(this.#path("vars.env"), { force: true });
  }

  /** The key that encrypts secrets in stored components. It is stored with the state that needs it. */
  secretsKey(): string {
    return this.#key("secrets-key", "base64").key;
  }

  hasSecretsKey(other?: string): boolean {
    return existsSync(this.#path("secrets-key")) && this.#readKey("secrets-key") !== other;
  }

  /** The keys of `--auth`, with their files. */
  credentials(): LocalKeys {
    return {
      operatorKey: this.#key("operator-key", "base64url"),
      apiKey: this.#key("api-key", "base64url"),
    };
  }

  /**
   * A random key of 32 bytes, generated on first use.
   *
   * @param name the name of its file
   */
  #key(name: string, encoding: "base64" | "base64url"): LocalKey {
    const generated = !existsSync(this.#path(name));
    if (generated) this.#write(name, `${randomBytes(32).toString(encoding)}\n`);
    return { key: this.#readKey(name), file: this.#path(name), generated };
  }

  #readKey(name: string): string {
    return readFileSync(this.#path(name), "utf8").trim();
  }

  /** @throws Error */
  #requireWritable(): void {
    try {
      makeDirectory(this.directory);
      // A full disk still stores names, but no contents.
      this.#write("server.json.new", "-".repeat(PAGE_BYTES));
      rmSync(this.#path("server.json.new"));
    } catch (error) {
      throw new Error(
        `The state cannot be stored in ${this.directory} (${errorMessage(error)}). Set ${this.#command.directoryOption} to another directory.`,
        { cause: error },
      );
    }
  }

  #takenBy(ownPort: number): string {
    const { pid, port } = this.#readServer();
    const server =
      port === undefined
        ? "another server"
        : `another server: process ${pid}, http://127.0.0.1:${port}`;
    const free = port === ownPort ? ownPort + 1 : ownPort;
    return [
      `The state in ${this.directory} is in use by ${server}.`,
      "Use that server, stop it, or start this one with its own state:",
      `  ${this.#command.withState(".troupe/state-2", free)}`,
    ].join("\n");
  }

  #readServer(): { pid?: number; port?: number } {
    try {
      return JSON.parse(readFileSync(this.#path("server.json"), "utf8")) as { pid?: number };
    } catch {
      // The other server has only just locked the directory.
      return {};
    }
  }

  #write(name: string, text: string): void {
    writeFileSync(this.#path(name), text, { mode: 0o600 });
  }

  #path(name: string): string {
    return join(this.directory, name);
  }
}

/**
 * Variables as the text of an env file. Wrangler expands `$NAME` in values after it removes the quotes, so every dollar sign
 * is escaped.
 */
function toEnvFile(vars: Readonly<Record<string, string>>): string {
  return Object.entries(vars)
    .map(([name, value]) => `${name}=${quote(value.replaceAll("$", String.raw`\$`))}\n`)
    .join("");
}

function quote(value: string): string {
  const mark = ["'", "`", '"'].find((one) => !value.includes(one));
  if (mark === undefined) throw new Error("a value may not contain all three kinds of quotes");
  return `${mark}${value}${mark}`;
}

/** The kinds of bindings whose local data wrangler's own commands write, by the names of their folders. */
const DATA_OF_BINDINGS = ["d1", "kv", "r2"];

/**
 * A sentence about local data of bindings that wrangler's commands have written where this server does not read it; undefined
 * without such data.
 *
 * @param root the folder of the project
 * @param directory the directory of the server's state
 */
export function unreadBindings(root: string, directory: string): string | undefined {
  const unread = DATA_OF_BINDINGS.filter(
    (kind) =>
      existsSync(join(root, ".wrangler/state/v3", kind)) &&
      !existsSync(join(directory, "v3", kind)),
  );
  if (unread.length === 0) return undefined;
  const directoryName = relative(root, directory) || directory;
  return `Local data of ${unread.join(", ")} is in .wrangler/state, which this server does not read. Add --persist-to ${directoryName} to the commands of wrangler that write it.`;
}

/** Makes a directory and those above it. With `recursive`, Node tries forever below /proc, which has no room for directories. */
function makeDirectory(path: string): void {
  if (existsSync(path)) return;
  makeDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another server may have made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
