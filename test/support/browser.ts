import { resolve } from "node:path";
import { build } from "esbuild";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from "playwright-core";
import { test } from "vitest";
import { ROOT } from "./npm-start.ts";
import { findProgram } from "./programs.ts";

/**
 * What systems call a browser of the Chromium family. The first has the engine without the windows around pages, and takes less
 * than half of the computing.
 */
const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/** The path of the browser, where there is one. */
export const CHROMIUM = NAMES.map(findProgram).find((path) => path !== undefined);

/** Whether the machine has a browser. Without one, tests in it are skipped, under names that say so. */
export const HAS_BROWSER = CHROMIUM !== undefined;

export async function startBrowser(): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error(`needs one of ${NAMES.join(", ")}`);
  // Those who test as root, in containers, have no sandbox for it.
  const args = ["--no-sandbox", "--disable-background-networking"];
  return chromium.launch({ executablePath: CHROMIUM, args });
}

/** How long a page may take for what a test waits for: this ends what hangs, and a busy machine is slow. */
const PATIENCE_MS = 60_000;

/** The profiles that the test under way has opened. */
let opened: BrowserContext[] = [];

/** A tab with a profile of its own, which is closed with its test. */
export async function openTab(browser: Browser, options?: BrowserContextOptions): Promise<Page> {
  const profile = await browser.newContext(options);
  opened.push(profile);
  profile.setDefaultTimeout(PATIENCE_MS);
  return profile.newPage();
}

/** Declares a test in a browser, which is skipped on a machine without one. */
export function testInBrowser(name: string, body: () => Promise<void>, timeout = 120_000): void {
  if (!HAS_BROWSER) {
    test.skip(`${name} (needs chromium)`, () => undefined);
    return;
  }
  test(name, { timeout }, async () => {
    const profiles: BrowserContext[] = [];
    opened = profiles;
    try {
      await body();
    } finally {
      // Pages that stay open keep asking their server.
      await Promise.all(profiles.map((profile) => profile.close()));
    }
  });
}

/** The script of a page, a module. @param entry a path, from the root of the project if it is relative */
export async function bundlePage(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [resolve(ROOT, entry)],
    bundle: true,
    format: "esm",
    target: "es2023",
    jsx: "automatic",
    // React's warnings are errors of a test.
    define: { "process.env.NODE_ENV": '"development"' },
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}
