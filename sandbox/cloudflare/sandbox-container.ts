import { DurableObject } from "cloudflare:workers";

/** Settings of the Worker of the containers. */
export interface ContainerEnv {
  /** Seconds without a request after which a container is stored and stopped. Default 600. */
  CONTAINER_SLEEP_SECONDS?: string;
  /** `1` gives code the network. */
  CONTAINER_NETWORK?: string;
  /** The size of a container. Default `standard-1`, which has 4 GiB. */
  CONTAINER_INSTANCE?: string;
}

const PORT = 8788;
const SLEEP_SECONDS = 600;
const READY_WITHIN_MS = 60_000;
const EVERY_MS = 200;
/** A container whose object is gone stops later than one whose object stores it first. */
const GRACE_MS = 300_000;

const SESSION = /^\/v1\/sessions\/[^/]+\/?$/;

/**
 * One session of the sandbox, in a container of its own. It starts with the first request, and after some idle time its files are stored
 * and it stops; the next request starts it with these files.
 */
export class SandboxContainer<Env extends ContainerEnv = ContainerEnv> extends DurableObject<Env> {
  /** Requests whose responses are not complete. */
  #open = 0;
  /** Zero in an object that its alarm has woken: the alarm was set by the last use, and has been due since. */
  #lastUse = 0;
  /** A start or a stop under way. */
  #changing: Promise<void> | undefined;

  /** Passes a request of the sandbox's protocol on to the container. */
  override async fetch(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    if (request.method === "DELETE" && SESSION.test(pathname)) return this.#delete();
    this.#open++;
    let response: Response;
    try {
      const key = await this.#running();
      const headers = new Headers(request.headers);
      headers.set("authorization", `Bearer ${key}`);
      const { body, method, signal } = request;
      response = await this.#send(pathname + search, { method, headers, body, signal });
      if (pathname === "/healthz") response = await withoutFolders(response);
    } catch (error) {
      await this.#used();
      throw error;
    }
    return this.#counted(response);
  }

  /** Stores and stops a container that is idle. */
  override async alarm(): Promise<void> {
    const idleMs = Date.now() - this.#lastUse;
    if (this.#open > 0 || idleMs < this.#sleepMs) return this.#setAlarm();
    await this.#change(async () => {
      const container = this.container();
      if (!container.running) return;
      const snapshot = await container.snapshotContainer();
      this.ctx.storage.kv.put("snapshot", snapshot.id);
      await container.destroy();
    });
  }

  /** @throws Error for a class that the configuration gives no container */
  protected container(): Container {
    const { container } = this.ctx;
    if (container === undefined) throw new Error("SandboxContainer is not listed under containers");
    return container;
  }

  get #sleepMs(): number {
    return (Number(this.env.CONTAINER_SLEEP_SECONDS) || SLEEP_SECONDS) * 1000;
  }

  #send(path: string, init: RequestInit): Promise<Response> {
    const port = this.container().getTcpPort(PORT);
    return port.fetch(`http://container${path}`, init);
  }

  /** Ends the session: its files, and what was recorded of it. */
  async #delete(): Promise<Response> {
    await this.#change(async () => {
      const container = this.container();
      if (container.running) await container.destroy();
      await this.ctx.storage.deleteAlarm();
      await this.ctx.storage.deleteAll();
    });
    return new Response(null, { status: 204 });
  }

  /** The key of the container, once it answers. */
  async #running(): Promise<string> {
    const { kv } = this.ctx.storage;
    const key = kv.get<string>("key") ?? crypto.randomUUID();
    kv.put("key", key);
    await this.#change(async () => {
      if (this.container().running) return;
      const snapshot = kv.get<string>("snapshot");
      if (snapshot !== undefined && (await this.#start(key, snapshot))) return;
      // A snapshot that no longer exists would keep the session from ever starting again.
      kv.delete("snapshot");
      if (!(await this.#start(key))) throw new Error("the container did not start");
    });
    return key;
  }

  /** Makes one change of the container at a time. */
  async #change(make: () => Promise<void>): Promise<void> {
    const before = this.#changing ?? Promise.resolve();
    const change = before.catch(() => undefined).then(make);
    this.#changing = change;
    await change;
  }

  /** @returns false for a container that ended before it answered */
  async #start(key: string, snapshot?: string): Promise<boolean> {
    const container = this.container();
    const network = this.env.CONTAINER_NETWORK === "1";
    const options = {
      enableInternet: network,
      instance: instanceOf(this.env.CONTAINER_INSTANCE),
      env: { SANDBOX_KEY: key, SANDBOX_NETWORK: network ? "1" : "0" },
    };
    const { sandbox: image = "" } = container.images;
    container.start(
      snapshot === undefined
        ? { ...options, image }
        : { ...options, containerSnapshot: { id: snapshot } },
    );
    // How it ended is seen by the next request.
    void container.monitor().catch(() => undefined);
    await container.setInactivityTimeout(this.#sleepMs + GRACE_MS);
    // An object that ends before the first answer still stores what runs by then.
    await this.#setAlarm();
    const until = Date.now() + READY_WITHIN_MS;
    while (container.running && Date.now() < until) {
      const answer = await this.#send("/healthz", {}).catch(() => undefined);
      await answer?.body?.cancel();
      if (answer?.ok) return true;
      await scheduler.wait(EVERY_MS);
    }
    if (container.running) await container.destroy();
    return false;
  }

  /** A response that counts as open until its body ends. */
  async #counted(response: Response): Promise<Response> {
    if (response.body === null) {
      await this.#used();
      return response;
    }
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const passed = response.body.pipeTo(writable).catch(() => undefined);
    this.ctx.waitUntil(passed.then(() => this.#used()));
    return new Response(readable, response);
  }

  async #used(): Promise<void> {
    this.#open--;
    this.#lastUse = Date.now();
    await this.#setAlarm();
  }

  async #setAlarm(): Promise<void> {
    await this.ctx.storage.setAlarm(Date.now() + this.#sleepMs);
  }
}

/** Folders are sessions of their own, which a container of another session does not have. */
async function withoutFolders(response: Response): Promise<Response> {
  const health: object = await response.json();
  return Response.json({ ...health, folders: false }, { status: response.status });
}

const INSTANCES = [
  "lite",
  "basic",
  "standard-1",
  "standard-2",
  "standard-3",
  "standard-4",
] as const;

/** @throws Error naming the sizes */
function instanceOf(value = "standard-1"): (typeof INSTANCES)[number] {
  const instance = INSTANCES.find((name) => name === value);
  if (instance !== undefined) return instance;
  throw new Error(`CONTAINER_INSTANCE is "${value}": it must be one of ${INSTANCES.join(", ")}`);
}
