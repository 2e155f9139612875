import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LocalKey, LocalKeys } from "../generated-keys.ts";
import { errorMessage } from "../../../core/errors.ts";
import { toEnvFile } from "./env-file.ts";
import { tryLock } from "./state-lock.ts";

/** A server that was just told to stop needs a moment. */
const LOCKED_WITHIN_MS = 1_000;

/**
 * The directory that a server keeps its state in. Only one server at a time may use it: two would run the same teams twice
 * and corrupt their runs.
 */
export class State {
  readonly directory: string;

  constructor(directory: string) {
    this.directory = directory;
  }

  /**
   * Locks the directory until this process ends.
   *
   * @param port of this server, for a second start on the same state to name
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
  }

  /** The file that wrangler locks for as long as it runs: a killed start leaves it behind for a moment. */
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

  /** The key that secrets in stored components are encrypted with. It belongs to the state, so it is stored with it. */
  secretsKey(): string {
    return this.#key("secrets-key", "base64").key;
  }

  /** @param {string} [other] than this one */
  hasSecretsKey(other?: string): boolean {
    return existsSync(this.#path("secrets-key")) && this.#readKey("secrets-key") !== other;
  }

  /** The keys of `--auth`, with the files they are in. */
  credentials(): LocalKeys {
    return {
      operatorKey: this.#key("operator-key", "base64url"),
      apiKey: this.#key("api-key", "base64url"),
    };
  }

  /**
   * A random key of 32 bytes, generated on first use.
   *
   * @param name of its file
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
      mkdirSync(this.directory, { recursive: true, mode: 0o700 });
      this.#write("server.json.new", "");
      rmSync(this.#path("server.json.new"));
    } catch (error) {
      throw new Error(
        `The state cannot be kept in ${this.directory} (${errorMessage(error)}). PERSIST_TO names another directory.`,
        { cause: error },
      );
    }
  }

  #takenBy(ownPort: number): string {
    const { pid, port } = this.#readServer();
    const server =
      port === undefined
        ? "another Troupe"
        : `another Troupe: process ${pid}, http://127.0.0.1:${port}`;
    const free = port === ownPort ? ownPort + 1 : ownPort;
    return [
      `The state in ${this.directory} is in use by ${server}.`,
      "Use that server or stop it, or start this one with a state of its own:",
      `  PERSIST_TO=.troupe/state-2 PORT=${free} npm start`,
    ].join("\n");
  }

  #readServer(): { pid?: number; port?: number } {
    try {
      return JSON.parse(readFileSync(this.#path("server.json"), "utf8")) as { pid?: number };
    } catch {
      // The other start has locked the directory a moment ago.
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
