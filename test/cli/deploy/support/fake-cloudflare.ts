import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BuildOptions } from "../../../support/built-worker.ts";
import { KillableWorker } from "../../../support/killable-worker.ts";

const WRANGLER = fileURLToPath(import.meta.resolve("wrangler/package.json"));

interface Call {
  args: string[];
  secrets: Record<string, string> | null;
  account: string | null;
  /** The text of the configuration. */
  config: string;
}

interface Outcome {
  code: number;
  stdout?: string;
  /** The line that wrangler writes for programs. */
  written?: { type: "deploy" | "command-failed"; [field: string]: unknown };
}

/** The answer to the binding `worker_loaders` in an account with the free plan, by wrangler 4.80. */
export const NO_DYNAMIC_WORKERS = {
  code: 10195,
  message:
    "In order to use Dynamic Workers, you must switch to a paid plan at https://dash.cloudflare.com/a1/workers/plans.",
};

/** The answer of Cloudflare before that, which does not name the reason. */
export const INVALID_BINDING = {
  code: 10021,
  message: "binding LOADER of type worker_loader is invalid",
};

/** A project and an account, in which a program on PATH acts as wrangler: what it deploys is the built Worker in workerd. */
export class FakeCloudflare implements AsyncDisposable {
  readonly calls: Call[] = [];
  readonly root: string;
  /** The accounts of the login; undefined without one. */
  accounts: { id: string; name: string }[] | undefined = [{ id: "a1", name: "Ours" }];
  /** The secrets of the Worker. */
  secrets: Record<string, string> = {};
  /** True if the next deployment fails. */
  fails = false;
  /** True if the secrets cannot be listed. */
  listFails = false;
  /** Cloudflare's error for dynamic Workers; undefined if the plan has them. */
  loaderError: typeof NO_DYNAMIC_WORKERS | undefined;
  worker: KillableWorker | undefined;
  /** Builds what is deployed, if it is not the Worker of this version. */
  build: BuildOptions = {};
  readonly #state: string;
  readonly #server: Server;

  private constructor() {
    this.root = mkdtempSync(join(tmpdir(), "troupe-project-"));
    this.#state = join(this.root, "objects");
    this.configure('name = "my-team"\n');
    // troupe reads the configuration with the modules of the real one.
    mkdirSync(join(this.root, "node_modules"));
    symlinkSync(dirname(WRANGLER), join(this.root, "node_modules/wrangler"));
    const bin = join(this.root, "bin");
    mkdirSync(bin);
    copyFileSync(join(import.meta.dirname, "fake-wrangler.mjs"), join(bin, "wrangler"));
    chmodSync(join(bin, "wrangler"), 0o755);
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const call = JSON.parse(Buffer.concat(chunks).toString()) as Call;
        this.calls.push(call);
        void this.#answer(call).then((outcome) => response.end(JSON.stringify(outcome)));
      });
    });
  }

  static async start(): Promise<FakeCloudflare> {
    const cloudflare = new FakeCloudflare();
    await new Promise<void>((resolve) => {
      cloudflare.#server.listen(0, "127.0.0.1", resolve);
    });
    return cloudflare;
  }

  get env(): Record<string, string> {
    const { port } = this.#server.address() as AddressInfo;
    return {
      PATH: [join(this.root, "bin"), process.env["PATH"] ?? ""].join(delimiter),
      FAKE_WRANGLER: `http://127.0.0.1:${port}`,
    };
  }

  /** @param config the text of wrangler.toml */
  configure(config: string): void {
    writeFileSync(join(this.root, "wrangler.toml"), config);
  }

  async #answer({ args, secrets, config }: Call): Promise<Outcome> {
    const [command, ...rest] = args;
    if (command === "whoami") {
      const { accounts } = this;
      const answer = accounts === undefined ? { loggedIn: false } : { loggedIn: true, accounts };
      // As wrangler does where a newer version is known.
      const stdout = `A notice.\n${JSON.stringify(answer, null, 2)}\n`;
      return { code: accounts === undefined ? 1 : 0, stdout };
    }
    if (command === "secret") {
      const list = Object.keys(this.secrets).map((name) => ({ name, type: "secret_text" }));
      if (this.listFails) return { code: 1, stdout: "Authentication error [code: 10000]\n" };
      return this.worker === undefined
        ? { code: 1, stdout: 'Worker "my-team" not found.\n' }
        : { code: 0, stdout: JSON.stringify(list) };
    }
    if (command !== "deploy" || this.fails) return { code: 1 };
    if (rest.includes("--dry-run")) return { code: 0 };
    if (this.loaderError !== undefined && config.includes("worker_loaders")) {
      const { code, message } = this.loaderError;
      return {
        code: 1,
        stdout: `A request to the Cloudflare API failed.\n${message} [code: ${code}]\n`,
        written: {
          type: "command-failed",
          code,
          message: "A request to the Cloudflare API failed.",
        },
      };
    }
    Object.assign(this.secrets, secrets);
    await this.worker?.[Symbol.asyncDispose]();
    const settings = { TROUPE_OPEN: "", ...this.secrets };
    this.worker = await KillableWorker.start(settings, { ...this.build, persistTo: this.#state });
    const targets = [this.worker.origin, "schedule: 0 8 * * *"];
    const written = { worker_name: "my-team", version_id: "v1", targets };
    return { code: 0, written: { type: "deploy", ...written } };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.worker?.[Symbol.asyncDispose]();
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
    rmSync(this.root, { recursive: true, force: true });
  }
}
