import { once } from "node:events";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { requestBody } from "./request-body.ts";
import { Sandbox } from "./sandbox.ts";

/** The options of a start, as far as tests read them. */
export interface StartOptions {
  image?: string;
  containerSnapshot?: { id: string };
  enableInternet: boolean;
  instance: string;
  env: { SANDBOX_KEY: string };
}

interface Running {
  sandbox: Sandbox;
  data: string;
  ended: PromiseWithResolvers<void>;
}

/** Starts a real sandbox for each container that the stand-in in the Worker asks for, and keeps their snapshots. */
export class ContainerHost implements AsyncDisposable {
  /** Each start by the name of its object. */
  readonly starts: { name: string; options: StartOptions }[] = [];
  readonly running = new Map<string, Running>();
  readonly #snapshots = new Map<string, string>();
  readonly #directory: string;
  readonly #server: Server;

  private constructor(directory: string, server: Server) {
    this.#directory = directory;
    this.#server = server;
  }

  static async start(): Promise<ContainerHost> {
    const directory = await mkdtemp(join(tmpdir(), "containers-"));
    const server = createServer();
    const host = new ContainerHost(directory, server);
    server.on("request", (request, response) => void host.#serve(request, response));
    await once(server.listen(0, "127.0.0.1"), "listening");
    return host;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Ends a container as a crash does. @returns false if it was not running */
  async crash(name: string): Promise<boolean> {
    const isRunning = this.running.has(name);
    await this.#end(name);
    return isRunning;
  }

  forgetSnapshots(): void {
    this.#snapshots.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of this.running.keys()) await this.#end(name);
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await requestBody(request);
    const { name, options } = JSON.parse(body ?? "") as { name: string; options: StartOptions };
    try {
      const answer = await this.#answer(request.url ?? "", name, options);
      response.end(JSON.stringify(answer ?? {}));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  }

  async #answer(action: string, name: string, options: StartOptions): Promise<object | undefined> {
    if (action === "/start") return this.#start(name, options);
    const running = this.running.get(name);
    if (running === undefined) throw new Error(`${name} is not running`);
    if (action === "/ended") await running.ended.promise;
    if (action === "/destroy") await this.#end(name);
    if (action === "/snapshot") return this.#snapshot(running.data);
    return undefined;
  }

  async #start(name: string, options: StartOptions): Promise<{ port: number }> {
    this.starts.push({ name, options });
    const data = await mkdtemp(join(this.#directory, "data-"));
    const { containerSnapshot, env } = options;
    if (containerSnapshot !== undefined) {
      const stored = this.#snapshots.get(containerSnapshot.id);
      if (stored === undefined) throw new Error("there is no such snapshot");
      await cp(stored, data, { recursive: true });
    }
    const sandbox = await Sandbox.start({ data, settings: env });
    this.running.set(name, { sandbox, data, ended: Promise.withResolvers() });
    return { port: Number(new URL(sandbox.url).port) };
  }

  async #snapshot(data: string): Promise<{ id: string; size: number }> {
    const id = `snapshot-${this.#snapshots.size + 1}`;
    const stored = join(this.#directory, id);
    await cp(data, stored, { recursive: true });
    this.#snapshots.set(id, stored);
    return { id, size: 1 };
  }

  async #end(name: string): Promise<void> {
    const running = this.running.get(name);
    this.running.delete(name);
    await running?.sandbox[Symbol.asyncDispose]();
    running?.ended.resolve();
  }
}
