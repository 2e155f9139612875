import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Locator, Page } from "playwright-core";
import { bundlePage, openTab, startBrowser } from "../../support/browser.ts";
import type { AppOptions } from "./app-options.ts";

/** A document with the script and what the server rendered. */
export function html(script: string, rendered = ""): string {
  const inline = script.replaceAll("</script", "<\\/script");
  return `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><main>${rendered}</main><script type="module">${inline}</script>`;
}

/** A page in a browser that shows teams, and what went wrong on it. */
export interface Shown {
  page: Page;
  /** Errors and warnings of the console, and exceptions. */
  complaints: string[];
  /** Paths of the requests to the API. */
  requests: string[];
}

/** A browser, and a server of the test's page on an origin of its own. */
export class Stage implements AsyncDisposable {
  readonly #browser: Browser;
  readonly #server: Server;
  readonly script: string;

  private constructor(browser: Browser, server: Server, script: string) {
    this.#browser = browser;
    this.#server = server;
    this.script = script;
  }

  static async start(): Promise<Stage> {
    const script = await bundlePage("test/react/browser/page.tsx");
    const server = createServer((request, response) => {
      response.setHeader("content-type", "text/html");
      response.end(request.url === "/" ? html(script) : "");
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    return new Stage(await startBrowser(), server, script);
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Opens the page in a tab with a profile of its own. @param url default: the page on its own origin */
  async show(options: AppOptions, url: string = this.origin): Promise<Shown> {
    const page = await openTab(this.#browser);
    const complaints: string[] = [];
    const requests: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning")
        complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => {
      const { pathname, search } = new URL(request.url());
      if (pathname.startsWith("/v1/")) requests.push(`${request.method()} ${pathname}${search}`);
    });
    await page.goto(`${url}#${encodeURIComponent(JSON.stringify(options))}`);
    return { page, complaints, requests };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

/** A team on the page. */
export class Chat {
  readonly section: Locator;

  constructor(page: Page, team: string, place = 0) {
    this.section = page.locator(`section[data-team="${team}"]`).nth(place);
  }

  get messages(): Locator {
    return this.section.locator("li");
  }

  get writing(): Locator {
    return this.section.locator("[data-writing]");
  }

  /** Waits until the team has this status. */
  status(status: string): Promise<void> {
    return this.#has("status", status);
  }

  /** Waits until the team is connected, or is not. */
  connected(connected: boolean): Promise<void> {
    return this.#has("connected", String(connected));
  }

  async #has(attribute: string, value: string): Promise<void> {
    await this.section.and(this.section.page().locator(`[data-${attribute}="${value}"]`)).waitFor();
  }

  async send(task: string): Promise<void> {
    await this.section.locator("input").fill(task);
    await this.press("Send");
  }

  async press(button: string): Promise<void> {
    await this.section.getByRole("button", { name: button, exact: true }).first().click();
  }
}
