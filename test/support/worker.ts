import { join } from "node:path";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";

const root = join(import.meta.dirname, "../..");

export interface TestWorkerOptions {
  /** A Worker that wraps the deployed one, as a path from the root of the project. */
  entry?: string;
  /** What the runtime says of this is not shown: it is what the test does. */
  quietAbout?: string;
  /** Answers the outgoing requests of the Worker. Without it they go to the network. */
  outgoing?: (request: { url: string }) => Response;
  /** The directory of the objects' databases, which are otherwise in memory. */
  persistTo?: string;
}

/** The Worker as it is deployed, in a workerd of its own, open to local requests. */
export class TestWorker implements AsyncDisposable {
  readonly #miniflare: Miniflare;

  private constructor(miniflare: Miniflare) {
    this.#miniflare = miniflare;
  }

  static async start(
    settings: Record<string, string> = {},
    { entry = "src/worker.ts", quietAbout, outgoing, persistTo }: TestWorkerOptions = {},
  ): Promise<TestWorker> {
    const { outputFiles } = await build({
      entryPoints: [join(root, entry)],
      bundle: true,
      format: "esm",
      target: "es2023",
      external: ["cloudflare:*", "node:*"],
      conditions: ["workerd", "worker", "browser"],
      write: false,
    });
    const config = convertV4MiniflareOptions({
      name: "troupe",
      compatibilityDate: "2026-09-18",
      modules: [{ type: "ESModule", path: "worker.js", contents: outputFiles[0]?.text ?? "" }],
      durableObjects: {
        TEAM: { className: "TeamObject", useSQLite: true },
        TENANT: { className: "TenantObject", useSQLite: true },
      },
      bindings: { TROUPE_OPEN: "1", ...settings },
      ...(outgoing && { outboundService: async (request: { url: string }) => outgoing(request) }),
      ...(persistTo !== undefined && { resourcePersistencePath: persistTo }),
      ...(quietAbout !== undefined && {
        handleStructuredLogs: ({ message }: { message: string }) => {
          if (!message.includes(quietAbout)) process.stderr.write(`${message}\n`);
        },
      }),
    });
    const miniflare = new Miniflare(config);
    await miniflare.ready;
    return new TestWorker(miniflare);
  }

  /** Where it listens. */
  get origin(): Promise<string> {
    return this.#miniflare.ready.then(({ origin }) => origin);
  }

  /** Sends a request over a real connection. */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(new URL(path, await this.origin), init);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#miniflare.dispose();
  }
}
