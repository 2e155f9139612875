import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TroupeClient } from "troupe/client";
import { HAS_BROWSER, testInBrowser } from "../support/browser.ts";
import { ROOT } from "../support/npm-start.ts";
import { Workplace } from "../support/pages.ts";
import { TestWorker } from "../support/worker.ts";
import type { AppOptions } from "./support/app-options.ts";
import { HUMAN } from "./support/server.ts";
import { Chat, html, Stage } from "./support/stage.ts";

const place = new Workplace();
afterAll(() => place[Symbol.dispose]());

/** Renders the app in a Node of its own, which has nothing of a browser. */
async function rendered(options: AppOptions): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, "test/react/browser/server.tsx")],
    bundle: true,
    format: "esm",
    jsx: "automatic",
    packages: "external",
    write: false,
  });
  const module = place.write("server.mjs", outputFiles[0]?.text ?? "");
  const program = `
    import { rendered } from ${JSON.stringify(module)};
    process.stdout.write(rendered(${JSON.stringify(options)}));`;
  const { stdout, stderr } = await place.execute(process.execPath, [
    "--input-type=module",
    "--eval",
    program,
  ]);
  expect(stderr).toBe("");
  return stdout;
}

const options = (baseURL: string, team: string): AppOptions => ({
  baseURL,
  teams: [team],
  strict: true,
  inbox: true,
});

test("a server renders a team without its content", async () => {
  const page = await rendered(options("http://127.0.0.1:9", "demo"));
  expect(page).toContain('<section data-team="demo" data-status="connecting"');
  expect(page).toContain('<aside data-status="connecting"');
  expect(page).not.toContain("<li");
});

let stage: Stage;
let worker: TestWorker;

beforeAll(async () => {
  if (!HAS_BROWSER) return;
  stage = await Stage.start();
  const page = html(stage.script, await rendered(options("", "demo")));
  worker = await TestWorker.start({ PAGE: page }, { entry: "test/react/worker/site.ts" });
});

afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
  await worker?.[Symbol.asyncDispose]();
});

testInBrowser("a page of the Worker that has the API hydrates without warnings", async () => {
  const origin = await worker.origin;
  const client = new TroupeClient({ baseURL: origin });
  await client.teams.create({ component: HUMAN, id: "demo" });
  const { page, complaints } = await stage.show(options(origin, "demo"), `${origin}/page`);
  const chat = new Chat(page, "demo");
  await chat.status("idle");
  await chat.send("Ask me.");
  await chat.status("waiting");
  await chat.press("Yes");
  await chat.status("completed");
  await expect.poll(() => chat.messages.last().textContent()).toBe("Yes.");
  expect(complaints).toEqual([]);
});
