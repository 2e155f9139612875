import { join } from "node:path";
import { convertV4MiniflareOptions, Miniflare, type RemoteProxyConnectionString } from "miniflare";
import { AiRelay } from "./ai-relay.ts";
import { type BuildOptions, builtWorker, compatibility } from "./built-worker.ts";
import { keepMiniflarePrivate } from "./private-miniflare.ts";

const root = join(import.meta.dirname, "../..");

export interface TestWorkerOptions extends BuildOptions {
  /** What the runtime says of this is not shown: it is what the test does. */
  quietAbout?: string;
  /** Gets the lines of the Worker's log instead of the terminal. */
  logs?: (line: string) => void;
  /** Answers the outgoing requests of the Worker. Without it they go to the network. */
  outgoing?: (request: Request) => Response | Promise<Response>;
  /** The origin of what acts as Workers AI for the binding `AI`. Without it there is no such binding. */
  ai?: string;
  /** Where it listens; any free port without it. */
  port?: number;
  /** The directory of the objects' databases, which are otherwise in memory. */
  persistTo?: string;
  /** Whether it serves the console, as `console/public` has it. */
  console?: boolean;
  /** Whether it has the binding `MEMORY`. Default true. */
  memories?: boolean;
}

interface Handlers {
  queue: (
    name: string,
    messages: { id: string; timestamp: Date; attempts: number; body: unknown }[],
  ) => Promise<{ outcome: string; explicitAcks: string[] }>;
  scheduled: (options: { scheduledTime: Date; cron: string }) => Promise<{ outcome: string }>;
}

/** The Worker as it is deployed, in a workerd of its own, open to local requests. */
export class TestWorker implements AsyncDisposable {
  readonly #miniflare: Miniflare;

  readonly #relay: AiRelay | undefined;

  private constructor(miniflare: Miniflare, relay: AiRelay | undefined) {
    this.#miniflare = miniflare;
    this.#relay = relay;
  }

  static async start(
    settings: Record<string, string> = {},
    {
      quietAbout,
      logs,
      outgoing,
      ai,
      port,
      persistTo,
      console = false,
      memories = true,
      ...build
    }: TestWorkerOptions = {},
  ): Promise<TestWorker> {
    const relay = ai === undefined ? undefined : await AiRelay.start(ai);
    const { directory, modules } = await builtWorker(build);
    const { date, flags } = compatibility();
    const config = convertV4MiniflareOptions({
      name: "troupe",
      ...(port !== undefined && { port }),
      compatibilityDate: date,
      compatibilityFlags: flags,
      modulesRoot: directory,
      modules: modules.map((name) => ({
        type: name.endsWith(".bin") ? "Data" : "ESModule",
        path: join(directory, name),
      })),
      durableObjects: {
        TEAM: { className: "TeamObject", useSQLite: true },
        TENANT: { className: "TenantObject", useSQLite: true },
        ...(memories && { MEMORY: { className: "MemoryObject", useSQLite: true } }),
      },
      bindings: { TROUPE_OPEN: "1", ...settings },
      ...(outgoing && { outboundService: async (request: Request) => outgoing(request) }),
      ...(relay && {
        ai: {
          binding: "AI",
          remoteProxyConnectionString: relay.url as RemoteProxyConnectionString,
        },
      }),
      ...(console && {
        assets: {
          directory: join(root, "console/public"),
          binding: "CONSOLE_FILES",
          run_worker_first: true,
          routerConfig: { has_user_worker: true },
        },
      }),
      ...(persistTo !== undefined && { resourcePersistencePath: persistTo }),
      ...((quietAbout ?? logs) !== undefined && {
        handleStructuredLogs: ({ message }: { message: string }) => {
          if (logs) logs(message);
          else if (!message.includes(quietAbout ?? "")) process.stderr.write(`${message}\n`);
        },
      }),
    });
    keepMiniflarePrivate();
    const miniflare = new Miniflare(config);
    await miniflare.ready;
    return new TestWorker(miniflare, relay);
  }

  /** Where it listens. */
  get origin(): Promise<string> {
    return this.#miniflare.ready.then(({ origin }) => origin);
  }

  /** Sends a request over a real connection. */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(new URL(path, await this.origin), init);
  }

  /** Calls the handlers for queues and cron triggers. */
  async handlers(): Promise<Handlers> {
    const fetcher = (await this.#miniflare.getWorker()) as unknown as Handlers;
    return {
      queue: (name, messages) => fetcher.queue(name, messages),
      scheduled: (options) => fetcher.scheduled(options),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#miniflare.dispose();
    await this.#relay?.[Symbol.asyncDispose]();
  }
}
