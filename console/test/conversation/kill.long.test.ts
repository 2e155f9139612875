import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { testInBrowser } from "../../../test/support/browser.ts";
import { NpmStart } from "../../../test/support/npm-start.ts";
import { freePort } from "../../../test/support/ports.ts";
import { startFakeOpenAI } from "../../../test/support/fake-openai/server.ts";
import { turnTaking } from "../support/components.ts";
import { ConsoleStage, TeamOnPage } from "../support/stage.ts";

const TEXT = "one two three four five six seven eight nine ten ".repeat(8).trim();
const reply = { content: TEXT };

testInBrowser(
  "the page is unchanged after a reload, and after kill -9 of npm start in mid-sentence",
  async () => {
    const port = await freePort();
    const persistTo = mkdtempSync(join(tmpdir(), "troupe-console-"));
    try {
      // The first reply breaks off in mid-sentence, with the server.
      await using models = await startFakeOpenAI({
        rules: [
          { name: "broken", times: 1, reply, fault: { kind: "stall", after_chunks: 5 } },
          { name: "turn", reply },
        ],
      });
      await using first = await NpmStart.ready({ port, persistTo });
      expect(first.output).toContain(`Troupe is running: ${first.url} (open it in a browser)`);
      await using stage = await ConsoleStage.at(first.url);
      const created = await stage.client.teams.create({ component: turnTaking(models.url) });
      const { page } = await stage.open(`/teams/${created.id}`);
      const team = new TeamOnPage(page);
      await team.send("Count.");
      await page.getByText("one two three").waitFor();
      await page.reload();
      await page.getByText("one two three").waitFor();
      await expect.poll(() => page.getByText("Count.", { exact: true }).count()).toBe(1);
      process.kill(Number(first.pid), "SIGKILL");
      await first.exit();
      await page.getByText("Reconnecting").waitFor();
      await page.getByText("one two three").first().waitFor();
      await using second = await NpmStart.ready({ port, persistTo });
      expect(second.url).toBe(first.url);
      await team.status("Completed");
      await expect
        .poll(() => team.messages.allTextContents())
        .toEqual(["Count.", TEXT, TEXT, TEXT, TEXT]);
      await page.getByRole("link", { name: "Timeline" }).click();
      const interruption = page.locator(".timeline-row[data-kind=recovery]");
      await interruption.getByText("Interruption", { exact: true }).waitFor();
      await interruption.click();
      await page.getByText("The run continued from its recorded steps.").waitFor();
    } finally {
      rmSync(persistTo, { recursive: true, force: true });
    }
  },
  240_000,
);
