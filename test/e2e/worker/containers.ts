import { SandboxContainer } from "../../../sandbox/cloudflare/sandbox-container.ts";

export { default, MemoryObject, TeamObject, TenantObject } from "troupe/worker";

interface Env {
  /** The origin of the test's server, which starts and stops sandboxes. */
  CONTROL: string;
  CONTAINER_SLEEP_SECONDS: string;
}

/** Stands in for a container: a real sandbox beside the Worker. It refuses what a container refuses. */
class StandInContainer implements Container {
  readonly images = { sandbox: "registry.example/sandbox@sha256:00" };
  readonly #control: string;
  readonly #name: string;
  #running = false;
  #port: Promise<number> | undefined;

  constructor(control: string, name: string) {
    this.#control = control;
    this.#name = name;
  }

  get running(): boolean {
    return this.#running;
  }

  start(options?: ContainerStartupOptions): void {
    if (this.#running) throw new Error("start() was called while the container runs");
    this.#running = true;
    this.#port = this.#ask<{ port: number }>("start", options).then(({ port }) => port);
    this.#port.catch(() => (this.#running = false));
  }

  async monitor(): Promise<void> {
    await this.#port;
    await this.#ask("ended");
    this.#running = false;
  }

  async destroy(): Promise<void> {
    await this.#ask("destroy");
    this.#running = false;
  }

  getTcpPort(port: number): Fetcher {
    if (port !== 8788) throw new Error(`nothing listens on ${port}`);
    const send = async (url: string, init?: RequestInit): Promise<Response> => {
      if (!this.#running) throw new Error("the container is not running");
      const address = new URL(url);
      address.hostname = "127.0.0.1";
      address.port = String(await this.#port);
      return fetch(address, init);
    };
    return { fetch: send } as unknown as Fetcher;
  }

  async setInactivityTimeout(milliseconds: number | bigint): Promise<void> {
    if (Number(milliseconds) <= 0) throw new Error("the timeout must be positive");
  }

  snapshotContainer(): Promise<ContainerSnapshot> {
    return this.#ask("snapshot");
  }

  exec(): Promise<ExecProcess> {
    throw unexpected("exec");
  }

  inspect(): Promise<ContainerInfo | null> {
    throw unexpected("inspect");
  }

  signal(): void {
    throw unexpected("signal");
  }

  interceptOutboundHttp(): Promise<void> {
    throw unexpected("interceptOutboundHttp");
  }

  interceptAllOutboundHttp(): Promise<void> {
    throw unexpected("interceptAllOutboundHttp");
  }

  interceptOutboundHttps(): Promise<void> {
    throw unexpected("interceptOutboundHttps");
  }

  async #ask<T>(action: string, options: object = {}): Promise<T> {
    const body = JSON.stringify({ name: this.#name, options });
    const response = await fetch(`${this.#control}/${action}`, { method: "POST", body });
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  }
}

function unexpected(method: string): Error {
  return new Error(`${method}() is not expected`);
}

/** The object of `sandbox/cloudflare` over the stand-in. */
export class StandInSandbox extends SandboxContainer<Env> {
  readonly #container = new StandInContainer(this.env.CONTROL, this.ctx.id.name ?? "");

  protected override container(): Container {
    return this.#container;
  }
}
