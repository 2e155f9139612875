import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { freePort } from "../../../support/ports.ts";
import type { Kind } from "./test-server.ts";

/** A test server as a process of its own, killed and started again on the same port. */
export class McpServerProcess implements AsyncDisposable {
  readonly #kind: Kind;
  readonly #port: number;
  #child: ChildProcess | undefined;

  private constructor(kind: Kind, port: number) {
    this.#kind = kind;
    this.#port = port;
  }

  static async start(kind: Kind): Promise<McpServerProcess> {
    const server = new McpServerProcess(kind, await freePort());
    await server.start();
    return server;
  }

  get params() {
    const url = `http://127.0.0.1:${this.#port}/mcp`;
    return { type: "StreamableHttpServerParams", url } as const;
  }

  async start(): Promise<void> {
    const program = join(import.meta.dirname, "server-program.ts");
    const args = [program, this.#kind, String(this.#port)];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    this.#child = child;
    await once(child.stdout, "data");
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }
}
