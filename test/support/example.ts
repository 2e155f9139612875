import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./npm-start.ts";
import { snippet, Workplace } from "./pages.ts";
import { freePort } from "./ports.ts";

/** What examples listen on besides the server. */
const OWN_PORTS = ["8790", "8791"];

/**
 * A copy of an example, below the repository so that "troupe" is found, whose commands run as its README has them, but for the
 * ports.
 */
export class Example implements Disposable {
  readonly #place = new Workplace();
  readonly #name: string;
  readonly #ports: ReadonlyMap<string, string>;

  private constructor(name: string, ports: ReadonlyMap<string, string>) {
    this.#name = name;
    this.#ports = ports;
    for (const folder of [name, "support"]) {
      const copy = join(this.#place.folder, "examples", folder);
      cpSync(join(ROOT, "examples", folder), copy, { recursive: true });
      for (const file of readdirSync(copy).filter((one) => /\.(ts|json)$/.test(one))) {
        const path = join(copy, file);
        writeFileSync(path, this.#withPorts(readFileSync(path, "utf8")));
      }
    }
  }

  static async copy(name: string): Promise<Example> {
    const ports = OWN_PORTS.map(async (port) => [port, String(await freePort())] as const);
    return new Example(name, new Map(await Promise.all(ports)));
  }

  /** The path of a file of the example. */
  path(file: string): string {
    return join(this.#place.folder, "examples", this.#name, file);
  }

  /** The commands of a block of the README, the first of which starts the server. */
  commands(block: number): string {
    return snippet("Run it", "sh", block, this.#page);
  }

  /** The lines that the README promises. */
  promised(): string[] {
    return snippet("Run it", "text", 0, this.#page).trimEnd().split("\n");
  }

  /** Starts the commands of a block in a shell, or one of its commands. */
  start(block: number | string, server = ""): Terminal {
    const commands = typeof block === "number" ? this.commands(block) : block;
    // npx would look for Node in the copy.
    const text = this.#withPorts(commands).replaceAll("npx node ", "node ");
    return new Terminal(text, this.#place.folder, { TROUPE_URL: server });
  }

  [Symbol.dispose](): void {
    this.#place[Symbol.dispose]();
  }

  get #page(): string {
    return `examples/${this.#name}/README.md`;
  }

  #withPorts(text: string): string {
    return text.replaceAll(/\b879\d\b/g, (port) => this.#ports.get(port) ?? port);
  }
}

/** A shell with commands that end, or run until they are stopped. */
export class Terminal implements AsyncDisposable {
  /** Everything printed so far. */
  output = "";
  readonly #child: ChildProcess;
  readonly #closed: Promise<number | null>;
  #hasClosed = false;
  #changed = (): void => {};

  constructor(commands: string, cwd: string, env: Record<string, string>) {
    const { PATH = "", HOME = "" } = process.env;
    const path = `${join(ROOT, "node_modules/.bin")}:${PATH}`;
    this.#child = spawn("sh", ["-ec", commands], {
      cwd,
      // A group of its own, so that it is stopped with the programs that it has started.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: path, HOME, ...env },
    });
    const collect = (text: string): void => {
      this.output += text;
      this.#changed();
    };
    this.#child.stdout?.setEncoding("utf8").on("data", collect);
    this.#child.stderr?.setEncoding("utf8").on("data", collect);
    this.#closed = new Promise((closed) => {
      this.#child.on("close", (code) => {
        this.#hasClosed = true;
        this.#changed();
        closed(code);
      });
    });
  }

  /** Resolves once the output has what the pattern matches. @throws Error with the output when the commands end before */
  async until(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.output)) {
      if (this.#hasClosed) throw new Error(`ended without ${pattern}:\n${this.output}`);
      await new Promise<void>((change) => {
        this.#changed = change;
      });
    }
  }

  /** Resolves with the output once all commands have ended. @throws Error with the output if one failed */
  async end(): Promise<string> {
    const code = await this.#closed;
    if (code !== 0) throw new Error(`ended with ${code}:\n${this.output}`);
    return this.output;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#hasClosed) process.kill(-(this.#child.pid ?? 0), "SIGTERM");
    await this.#closed;
  }
}
