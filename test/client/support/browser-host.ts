import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { bundlePage, openTab, startBrowser } from "../../support/browser.ts";
import type { CaseInput, CaseName, runCase } from "./cases.ts";

/** A page in a browser, on an origin of its own, that runs cases. */
export class BrowserHost implements AsyncDisposable {
  readonly #browser: Browser;
  readonly #server: Server;
  readonly #page: Page;

  private constructor(browser: Browser, server: Server, page: Page) {
    this.#browser = browser;
    this.#server = server;
    this.#page = page;
  }

  static async start(): Promise<BrowserHost> {
    const script = await bundlePage("test/client/browser/page.ts");
    const server = createServer((request, response) => {
      const isScript = request.url === "/page.js";
      response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
      response.end(
        isScript ? script : '<!doctype html><script type="module" src="/page.js"></script>',
      );
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const browser = await startBrowser();
    const page = await openTab(browser);
    const host = new BrowserHost(browser, server, page);
    await page.goto(host.origin);
    return host;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  run(name: CaseName, input: CaseInput): Promise<unknown> {
    return this.#page.evaluate(
      ({ name: called, json }) =>
        (globalThis as unknown as { runCase: typeof runCase }).runCase(
          called,
          JSON.parse(json) as CaseInput,
        ),
      { name, json: JSON.stringify(input) },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
