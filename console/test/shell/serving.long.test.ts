import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildConsole } from "../../../scripts/build/console.mjs";
import { ROOT } from "../../../test/support/npm-start.ts";
import { TestWorker } from "../../../test/support/worker.ts";

const NAVIGATION = { accept: "text/html,*/*;q=0.8", "sec-fetch-mode": "navigate" };
const ASSETS = join(ROOT, "console/public/assets");

beforeAll(() => buildConsole());

/** Sends a request as a browser would; `fetch` does not let headers say that it is a navigation. */
async function navigate(
  worker: TestWorker,
  path: string,
  sent: Record<string, string> = NAVIGATION,
): Promise<Response> {
  const request = get(new URL(path, await worker.origin), { headers: sent });
  const [message] = (await once(request, "response")) as [IncomingMessage];
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(message.headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  const body = Buffer.concat(await message.toArray());
  return new Response(body, { status: message.statusCode ?? 0, headers });
}

describe("a server with the console", () => {
  let worker: TestWorker;
  beforeAll(async () => {
    worker = await TestWorker.start({ TROUPE_OPEN: "" }, { console: true });
  });
  afterAll(() => worker[Symbol.asyncDispose]());

  test.each(["/", "/teams/demo", "/inbox", "/no-such-page"])(
    "gives the page to a browser that opens %s, without a credential",
    async (path) => {
      const response = await navigate(worker, path);
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toContain("text/html");
      expect(response.headers.get("content-security-policy")).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      );
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      expect(response.headers.get("referrer-policy")).toBe("no-referrer");
      expect(response.headers.get("cache-control")).toContain("must-revalidate");
      expect(await response.text()).toContain('<div id="root">');
    },
  );

  test.each(["/v1/teams", "/v1/nothing", "/mcp", "/healthz", "/.well-known/oauth"])(
    "gives the API to a browser that opens %s",
    async (path) => {
      const response = await navigate(worker, path);
      expect(response.headers.get("content-type")).toMatch(/json/);
    },
  );

  test("gives the API's answer to programs at the URLs of pages", async () => {
    const calls: Record<string, string>[] = [
      { accept: "text/html", "sec-fetch-mode": "cors" },
      { accept: "*/*" },
    ];
    for (const headers of calls) {
      const response = await navigate(worker, "/teams/demo", headers);
      expect(response.headers.get("content-type")).toBe("application/problem+json");
    }
    const posted = await worker.fetch("/", { method: "POST", headers: { accept: "text/html" } });
    expect(posted.headers.get("content-type")).toBe("application/problem+json");
  });

  test("has files that are cached for ever, and the API's 404 for missing ones", async () => {
    const script = readdirSync(ASSETS).find((name) => /^main-.*\.js$/.test(name)) ?? "";
    const response = await worker.fetch(`/assets/${script}`);
    expect(response.headers.get("content-type")).toContain("text/javascript");
    expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(await response.text()).toBe(readFileSync(join(ASSETS, script), "utf8"));
    for (const path of ["/assets/none.js", "/_headers", "/index.html"]) {
      const missing = await worker.fetch(path);
      expect(missing.headers.get("content-type")).toBe("application/problem+json");
    }
  });
});

test("a server with CONSOLE=off has no console", async () => {
  await using worker = await TestWorker.start({ CONSOLE: "off" }, { console: true });
  const [script = ""] = readdirSync(ASSETS);
  for (const path of ["/", "/teams/demo", "/favicon.svg", `/assets/${script}`]) {
    const response = await navigate(worker, path);
    expect([path, response.status]).toEqual([path, 404]);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
  }
});

test("the page loads at most 150 KB of script at first", () => {
  const page = readFileSync(join(ROOT, "console/public/index.html"), "utf8");
  const scripts = [...page.matchAll(/\/assets\/([\w.-]+\.js)/g)].map(([, name = ""]) => name);
  const sizes = scripts.map((name) => gzipSync(readFileSync(join(ASSETS, name))).length);
  expect(scripts.length).toBeGreaterThan(0);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(150_000);
});
