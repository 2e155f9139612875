import { execFile, spawn } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect } from "vitest";
import { openTab, startBrowser, testInBrowser } from "../support/browser.ts";
import { NpmStart, ROOT } from "../support/npm-start.ts";
import { freePort } from "../support/ports.ts";

// examples/copilotkit as its readers have it, with CopilotKit's packages from the registry: 700 MB. COPILOTKIT names another
// version than the example's, for example "latest".

const VERSION = process.env["COPILOTKIT"];

const EXAMPLE = "examples/copilotkit";

let directory: string;
let page: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "troupe-copilotkit-"));
  page = join(directory, EXAMPLE, "page");
  for (const path of ["tsconfig.base.json", `${EXAMPLE}/page`]) {
    const filter = (from: string): boolean => !/\/(node_modules|built)$/.test(from);
    cpSync(join(ROOT, path), join(directory, path), { recursive: true, filter });
  }
  await run("npm", ["ci", "--no-audit", "--no-fund"]);
  if (VERSION !== undefined) {
    const packages = ["react-core", "runtime"].map((name) => `@copilotkit/${name}@${VERSION}`);
    await run("npm", ["install", "--no-audit", "--no-fund", ...packages]);
  }
  await run("npm", ["run", "build"]);
}, 900_000);

afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function run(command: string, args: readonly string[]): Promise<void> {
  await promisify(execFile)(command, args, { cwd: page });
}

/** Starts the page's server and resolves with its URL. */
async function startPage(troupe: string): Promise<AsyncDisposable & { url: string }> {
  const port = await freePort();
  const server = spawn(process.execPath, ["server.mjs"], {
    cwd: page,
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...process.env,
      PORT: String(port),
      TROUPE_URL: troupe,
      COPILOTKIT_TELEMETRY_DISABLED: "true",
    },
  });
  const ended = new Promise((end) => server.once("close", end));
  const url = `http://127.0.0.1:${port}`;
  await new Promise<void>((listening, fail) => {
    server.stdout.on("data", (text: Buffer) => {
      if (text.toString().includes(url)) listening();
    });
    server.once("close", (code) => fail(new Error(`the page's server ended with ${code}`)));
  });
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.kill();
      await ended;
    },
  };
}

testInBrowser(
  "a page with CopilotKit's chat runs a team, asks its human, and shows its state",
  async () => {
    await run(join(ROOT, "node_modules/.bin/tsc"), ["-p", "."]);
    await using troupe = await NpmStart.ready({
      port: await freePort(),
      persistTo: join(directory, "state"),
      args: ["--config", `${EXAMPLE}/wrangler.toml`],
    });
    await using site = await startPage(troupe.url);
    const browser = await startBrowser();
    try {
      const tab = await openTab(browser);
      const errors: string[] = [];
      tab.on("pageerror", ({ message }) => errors.push(message));
      await tab.goto(site.url);
      const box = tab.locator("textarea");
      await box.fill("Write about the sea.");
      await box.press("Enter");
      const answer = (name: string) => tab.getByRole("button", { name, exact: true });
      await answer("Again").waitFor();
      await expect.poll(() => tab.locator("aside").innerText()).toMatch(/editor[^]*writer: 1/);
      await tab.getByText("big", { exact: true }).waitFor();
      await answer("Again").click();
      await tab.getByText("every footprint").waitFor();
      await answer("Print").waitFor();
      // The team has the conversation, and waits for the same answer.
      await tab.reload();
      await tab.getByText("every footprint").waitFor();
      await answer("Print").click();
      await tab.getByText("It is in the paper.").waitFor();
      await tab.getByText("printer: 1").waitFor();
      const turns = await tab.locator("aside li").allInnerTexts();
      expect(turns).toEqual(["writer: 2", "editor: 2", "printer: 1"]);
      expect(errors).toEqual([]);
    } finally {
      await browser.close();
    }
  },
  300_000,
);
