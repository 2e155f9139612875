import { join } from "node:path";
import { convertV4MiniflareOptions, Miniflare, type RemoteProxyConnectionString } from "miniflare";
import { AiRelay } from "./ai-relay.ts";
import { builtWorker, compatibility } from "./built-worker.ts";
import { keepMiniflarePrivate } from "./private-miniflare.ts";
import type { SentMail, TestWorkerOptions } from "./worker.ts";

const root = join(import.meta.dirname, "../..");

/** Takes the place of the binding send_email, which gets messages as plain objects here. */
const MAIL = `
import { WorkerEntrypoint } from "cloudflare:workers";
const sent = [];
export class Mail extends WorkerEntrypoint {
  async send({ from, to, "EmailMessage::raw": raw }) {
    sent.push({ from, to, raw });
    return { messageId: "<sent@example.com>" };
  }
}
export default { fetch: () => Response.json(sent) };`;

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
    {
      outgoing,
      ai,
      port,
      persistTo,
      console,
      email,
      bucket,
      memories = true,
      loader = false,
      ...build
    }: TestWorkerOptions,
    logs: (message: string) => void,
  ): Promise<MiniflareWorker> {
    const relay = ai === undefined ? undefined : await AiRelay.start(ai);
    const { directory, modules } = await builtWorker(build);
    const { date, flags } = compatibility();
    const mail = {
      name: "mail",
      compatibilityDate: date,
      modules: true as const,
      script: MAIL,
    };
    const config = convertV4MiniflareOptions({
      ...(port !== undefined && { port }),
      ...(persistTo !== undefined && { resourcePersistencePath: persistTo }),
      handleStructuredLogs: ({ message }: { message: string }) => logs(message),
      unsafeTriggerHandlers: email === true,
      workers: [
        {
          name: "troupe",
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
          ...(loader && { workerLoaders: { LOADER: {} } }),
          ...(bucket && { r2Buckets: ["FILES"] }),
          ...(email && { serviceBindings: { SEND_EMAIL: { name: "mail", entrypoint: "Mail" } } }),
          ...(console && {
            assets: {
              directory: join(root, "console/public"),
              binding: "CONSOLE_FILES",
              run_worker_first: true,
              routerConfig: { has_user_worker: true },
            },
          }),
        },
        ...(email ? [mail] : []),
      ],
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

  async sentMails(): Promise<SentMail[]> {
    const mail = await this.#miniflare.getWorker("mail");
    return (await (await mail.fetch("http://mail.example/")).json()) as SentMail[];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#miniflare.dispose();
    await this.#relay?.[Symbol.asyncDispose]();
  }
}
