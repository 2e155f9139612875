import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { projectWrangler, readWranglerConfig } from "#cli/build/wrangler-config.ts";
import { writeManifest } from "#cli/build/write-manifest.ts";
import { builtWorker } from "../../../support/built-worker.ts";
import { ownUsers } from "../../../support/sandbox-users.ts";

const ROOT = resolve(import.meta.dirname, "../../../..");

/** A line of the log. */
export type Line = Record<string, unknown>;

/** A project that has only what `troupe build` leaves for the machine that serves it. */
export class BuiltProject implements Disposable {
  readonly directory: string;

  private constructor(directory: string) {
    this.directory = directory;
  }

  static async make(): Promise<BuiltProject> {
    const directory = mkdtempSync(join(tmpdir(), "troupe-serve-"));
    const built = await builtWorker();
    const dist = join(directory, "dist");
    cpSync(built.directory, dist, { recursive: true });
    const config = readWranglerConfig(
      projectWrangler(ROOT),
      join(ROOT, "wrangler.toml"),
      undefined,
    );
    writeManifest(dist, "worker.js", config);
    writeFileSync(join(directory, "wrangler.toml"), 'name = "troupe"\n');
    return new BuiltProject(directory);
  }

  get state(): string {
    return join(this.directory, ".troupe/state");
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** `troupe serve` in a process of its own. */
export class Served implements AsyncDisposable {
  readonly url: string;
  readonly lines: Line[] = [];
  /** What is not a line of JSON. */
  text = "";
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown[]>;
  #changed = (): void => {};

  constructor(
    project: BuiltProject,
    port: number,
    args: readonly string[] = [],
    settings: Readonly<Record<string, string>> = {},
  ) {
    this.url = `http://127.0.0.1:${port}`;
    const { PATH = "", HOME = "" } = process.env;
    const sandbox = args.includes("--sandbox") ? [] : ["--no-sandbox"];
    this.#child = spawn(
      process.execPath,
      [join(ROOT, "src/cli/bin.ts"), "serve", "--port", String(port), ...sandbox, ...args],
      {
        cwd: project.directory,
        detached: true,
        stdio: ["ignore", "pipe", "pipe"],
        env: { PATH, HOME, ...ownUsers(), ...settings },
      },
    );
    const streams = [this.#child.stdout, this.#child.stderr];
    for (const stream of streams) {
      if (stream === null) continue;
      createInterface({ input: stream }).on("line", (line) => {
        if (line.startsWith("{")) this.lines.push(JSON.parse(line) as Line);
        else this.text += `${line}\n`;
        this.#changed();
      });
    }
    this.#ended = once(this.#child, "close").finally(() => this.#changed());
  }

  static async ready(...parameters: ConstructorParameters<typeof Served>): Promise<Served> {
    const server = new Served(...parameters);
    await server.line((line) => line["event"] === "ready");
    return server;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** The first line that matches, once it is there. @throws Error when the server ends before */
  async line(matches: (line: Line) => boolean): Promise<Line> {
    for (;;) {
      const found = this.lines.find(matches);
      if (found !== undefined) return found;
      if (this.#child.exitCode !== null || this.#child.signalCode !== null)
        throw new Error(`troupe serve ended:\n${this.text}${JSON.stringify(this.lines)}`);
      await new Promise<void>((changed) => {
        this.#changed = changed;
      });
    }
  }

  /** The exit code. */
  async exit(): Promise<number | null> {
    const [code] = await this.#ended;
    return code as number | null;
  }

  async stop(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<number | null> {
    this.#child.kill(signal);
    return this.exit();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.stop();
  }
}
