import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { TroupeClient } from "troupe/client";
import { buildConsole } from "../../../scripts/build/console.mjs";
import { openTab, startBrowser } from "../../../test/support/browser.ts";
import { TestWorker, type TestWorkerOptions } from "../../../test/support/worker.ts";

/** A tab with the console, and what went wrong in it. */
export interface Tab {
  page: Page;
  /** Errors and warnings of the browser's console, violations of the policy, and exceptions. */
  complaints: string[];
  /** Addresses of requests to others than the server. */
  foreign: string[];
}

/** The bundle, which all tests of this process have. */
let bundled: Promise<void> | undefined;

/** A server with the console, and a browser. */
export class ConsoleStage implements AsyncDisposable {
  readonly #browser: Browser;
  readonly #worker: TestWorker | undefined;
  readonly origin: string;
  readonly client: TroupeClient;

  private constructor(browser: Browser, worker: TestWorker | undefined, origin: string) {
    this.#browser = browser;
    this.#worker = worker;
    this.origin = origin;
    this.client = new TroupeClient({ baseURL: origin });
  }

  /** @param settings the settings of the Worker */
  static async start(
    settings: Record<string, string> = {},
    options: TestWorkerOptions = {},
  ): Promise<ConsoleStage> {
    await (bundled ??= buildConsole());
    const secrets = { SECRETS_KEY: btoa("k".repeat(32)) };
    const worker = await TestWorker.start(
      { ...secrets, ...settings },
      // A tab that is left breaks off its streams.
      { quietAbout: "Broken pipe", ...options, console: true },
    );
    return new ConsoleStage(await startBrowser(), worker, await worker.origin);
  }

  /** A browser for a server that the test starts and stops itself. */
  static async at(origin: string): Promise<ConsoleStage> {
    return new ConsoleStage(await startBrowser(), undefined, origin);
  }

  /** Opens a tab with a profile of its own. */
  async open(path = "/", context: BrowserContextOptions = {}): Promise<Tab> {
    const viewport = { width: 1440, height: 900 };
    const page = await openTab(this.#browser, { viewport, ...context });
    const complaints: string[] = [];
    const foreign: string[] = [];
    page.on("console", (message) => {
      const { url } = message.location();
      const told = ["error", "warning"].includes(message.type());
      if (told) complaints.push(`${message.text()} ${url}`);
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("dialog", (dialog) => {
      complaints.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(this.origin) && !/^(data|blob):/.test(url)) foreign.push(url);
    });
    await page.goto(this.origin + path);
    return { page, complaints, foreign };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
    await this.#worker?.[Symbol.asyncDispose]();
  }
}

/** The parts of a team's page. */
export class TeamOnPage {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  get composer(): Locator {
    return this.#page.locator(".composer textarea");
  }

  get messages(): Locator {
    return this.#page.locator("article .body");
  }

  button(name: string): Locator {
    return this.#page.getByRole("button", { name, exact: true });
  }

  async send(text: string): Promise<void> {
    await this.composer.fill(text);
    await this.composer.press("Enter");
  }

  /** Resolves when the header shows the status of the team, or how its last run ended. */
  async status(word: string): Promise<void> {
    const bar = this.#page.locator(".run-bar");
    const ended = ["Completed", "Failed", "Cancelled"].includes(word);
    const shown = ended
      ? bar.locator(".last-run", { hasText: `Last run ${word.toLowerCase()}` })
      : bar.locator(".status", { hasText: word });
    // A phone has room for one of them.
    await shown.waitFor({ state: "attached" });
  }
}
