import { join } from "node:path";
import { convertV4MiniflareOptions, Miniflare, type RemoteProxyConnectionString } from "miniflare";
import { AiRelay } from "./ai-relay.ts";
import { builtWorker, compatibility } from "./built-worker.ts";
import { keepMiniflarePrivate } from "./private-miniflare.ts";
import type { TestWorkerOptions } from "./worker.ts";

const root = join(import.meta.dirname, "../..");

export interface Handlers {
  queue: (
    name: string,
    messages: { id: string; timestamp: Date; attempts: number; body: unknown }[],
  ) => Promise<{ outcome: string; explicitAcks: string[] }>;
  scheduled: (options: { scheduledTime: Date; cron: string }) => Promise<{ outcome: string }>;
}

/** The Worker as it is deployed, with what Miniflare has in place of Cloudflare's other services. */
export class MiniflareWorker implements AsyncDisposable {
  readonly #miniflare: Miniflare;
  readonly #relay: AiRelay | undefined;
  readonly origin: string;

  private constructor(miniflare: Miniflare, relay: AiRelay | undefined, origin: string) {
    this.#miniflare = miniflare;
    this.#relay = relay;
    this.origin = origin;
  }

  static async start(
    settings: Record<string, string>,
    { outgoing, ai, port, persistTo, console, memories = true, ...build }: TestWorkerOptions,
    logs: (message: string) => void,
  ): Promise<MiniflareWorker> {
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
      handleStructuredLogs: ({ message }: { message: string }) => logs(message),
    });
    keepMiniflarePrivate();
    const miniflare = new Miniflare(config);
    const { origin } = await miniflare.ready;
    return new MiniflareWorker(miniflare, relay, origin);
  }

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
