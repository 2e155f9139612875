import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { NpmStart, ROOT } from "../support/npm-start.ts";
import { file, read, snippet, Workplace } from "../support/pages.ts";
import { freePort } from "../support/ports.ts";

const PAGE = "docs/web-page.md";

const place = new Workplace();
const persistTo = mkdtempSync(join(tmpdir(), "troupe-page-"));
afterAll(() => {
  place[Symbol.dispose]();
  rmSync(persistTo, { recursive: true, force: true });
});

test("the files of docs/web-page.md are a page with its API behind it", async () => {
  const files = ["public/index.html", "page.ts", "worker.ts", "wrangler.toml"];
  for (const name of files) place.write(`my-page/${name}`, file(`my-page/${name}`));
  const [bundle = ""] = snippet("A page of your own", "sh", 0, PAGE).split("\n");
  await promisify(execFile)("sh", ["-c", bundle], {
    cwd: place.folder,
    env: { ...process.env, PATH: `${join(ROOT, "node_modules/.bin")}:${process.env.PATH}` },
  });
  expect(read(PAGE)).toContain("npm start -- --config my-page/wrangler.toml");
  await using server = await NpmStart.ready({
    port: await freePort(),
    persistTo,
    args: ["--config", join(place.folder, "my-page/wrangler.toml")],
  });
  const page = await fetch(server.url);
  expect(page.headers.get("content-type")).toContain("text/html");
  expect(await page.text()).toContain('src="page.js"');
  const script = await fetch(`${server.url}/page.js`);
  expect(script.headers.get("content-type")).toContain("javascript");
  expect(await (await fetch(`${server.url}/healthz`)).json()).toEqual({ status: "ok" });
}, 120_000);
