import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect } from "vitest";
import { openTab, startBrowser, testInBrowser } from "../support/browser.ts";
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

testInBrowser(
  "the files of docs/web-page.md are a chat with its API behind it",
  async () => {
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
    expect(await (await fetch(`${server.url}/healthz`)).json()).toMatchObject({ status: "ok" });

    const browser = await startBrowser();
    try {
      const page = await openTab(browser);
      const errors: Error[] = [];
      page.on("pageerror", (error) => errors.push(error));
      const lines = page.locator("main p");
      const say = async (text: string): Promise<void> => {
        await page.locator("input").fill(text);
        await page.getByRole("button").click();
        await page.getByText(`: ${text}`).waitFor();
      };
      await page.goto(server.url);
      await say("Plan my day.");
      // The planner's proposal, and the question to the human.
      await expect.poll(() => lines.count()).toBe(3);
      await say("Something else, please.");
      await expect.poll(() => lines.count()).toBe(5);
      const before = await lines.allTextContents();
      await page.reload();
      await expect.poll(() => lines.allTextContents()).toEqual(before);
      await say("APPROVE");
      expect(errors).toEqual([]);
    } finally {
      await browser.close();
    }
  },
  120_000,
);
