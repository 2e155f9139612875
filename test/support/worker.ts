import { join } from "node:path";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";

const root = join(import.meta.dirname, "../..");

/** The Worker as it is deployed, in a workerd of its own, open to local requests. */
export class TestWorker implements AsyncDisposable {
  readonly #miniflare: Miniflare;

  private constructor(miniflare: Miniflare) {
    this.#miniflare = miniflare;
  }

  /** @param entry a Worker that wraps the deployed one, as a path from the root of the project */
  static async start(
    settings: Record<string, string> = {},
    entry = "src/worker.ts",
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
      durableObjects: { TEAM: { className: "TeamObject", useSQLite: true } },
      bindings: { TROUPE_OPEN: "1", ...settings },
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
