// The hooks of the AI SDK for React, of each version, in a browser.
import { join } from "node:path";
import { build } from "esbuild";
import { TroupeClient } from "troupe/client";
import { expect } from "vitest";
import { PEER_PACKAGES } from "../../../peers/packages.ts";
import { html, Stage } from "../../../react/support/stage.ts";
import { testInBrowser } from "../../../support/browser.ts";
import { TestWorker } from "../../../support/worker.ts";
import { agent, inTurn } from "./support/teams.ts";

/** A package of React's hooks, and that of the SDK that its applications have beside it. */
const VERSIONS = [
  { hooks: "ai-sdk-react-2", sdk: "ai-5" },
  { hooks: "ai-sdk-react-3", sdk: "ai-6" },
  { hooks: "@ai-sdk/react", sdk: "ai" },
];

/** With Miniflare: an environment of a process has no room for a page. */
const SITE = { entry: "test/react/worker/site.ts", handlers: true };

async function page({ hooks, sdk }: (typeof VERSIONS)[number]): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(PEER_PACKAGES, "../use-chat-page.jsx")],
    bundle: true,
    format: "esm",
    target: "es2023",
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"development"' },
    alias: { "@ai-sdk/react": join(PEER_PACKAGES, hooks), ai: join(PEER_PACKAGES, sdk) },
    write: false,
  });
  return html(outputFiles[0]?.text ?? "");
}

for (const version of VERSIONS) {
  testInBrowser(
    `useChat of ${version.sdk} shows a text as it grows, another answer, and both after a reload`,
    async () => {
      const settings = { PAGE: await page(version) };
      await using worker = await TestWorker.start(settings, SITE);
      await using stage = await Stage.start();
      const client = new TroupeClient({ baseURL: await worker.origin });
      const replies = ["One word after the other.", "Said in another way."];
      const component = inTurn(agent("writer", replies, { delay: 200 }));
      const { id } = await client.teams.create({ component });
      const url = `${await worker.origin}/page?team=${id}`;
      const { page: tab, complaints } = await stage.show({ baseURL: url, teams: [] }, url);
      const said = () => tab.locator("p").allTextContents();
      const status = () => tab.locator("form").getAttribute("data-status");

      await tab.getByRole("button", { name: "Send" }).click();
      await expect.poll(said).toEqual(["Write.", replies[0]]);
      const shown = await tab.evaluate(() => (globalThis as unknown as { shown: string[] }).shown);
      const grown = shown.filter((text) => text !== replies[0]);
      expect(grown.length).toBeGreaterThan(1);
      for (const text of grown) expect(replies[0]!.startsWith(text)).toBe(true);
      await expect.poll(status).toBe("ready");

      await tab.getByRole("button", { name: "Send" }).click();
      const both = ["Write.", replies[0], "Write.", replies[1]];
      await expect.poll(said).toEqual(both);
      await expect.poll(status).toBe("ready");
      await tab.getByRole("button", { name: "Again" }).click();
      await expect.poll(status).not.toBe("ready");
      await expect.poll(status).toBe("ready");
      // The fork has the replies of its turn.
      expect(await said()).toEqual(both);
      await tab.reload();
      await expect.poll(said).toEqual(both);
      await expect.poll(status).toBe("ready");
      expect(complaints).toEqual([]);
    },
  );
}
