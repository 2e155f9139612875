import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { zip } from "../../../test/support/zip.ts";
import { findings, testAppearances } from "../support/accessible.ts";
import { holdTimers } from "../support/held-timers.ts";
import { ConsoleStage } from "../support/stage.ts";

let stage: ConsoleStage;

beforeAll(async () => {
  if (HAS_BROWSER) stage = await ConsoleStage.start();
});

afterAll(() => stage?.[Symbol.asyncDispose]());

const LAW = { path: "references/law.md", content: "Above 50 euros a human decides." };

function instructions(name: string, text: string): string {
  return `---\nname: ${name}\ndescription: Decides about ${name}.\nallowed-tools: find_order\n---\n${text}\n`;
}

/** Chooses an archive of a skill, as a person does in the dialog of the browser. */
async function upload(page: Page, name: string, content: string): Promise<void> {
  const buffer = Buffer.from(zip([{ path: "SKILL.md", content }, LAW]));
  await page
    .getByLabel("Archive of a skill")
    .setInputFiles({ name: `${name}.zip`, mimeType: "application/zip", buffer });
}

testInBrowser("skills are uploaded, read, renewed, deleted and restored", async () => {
  const { page, complaints } = await stage.open("/memory");
  await page.getByRole("link", { name: "Skills" }).click();
  await page.getByText("No skills yet.").waitFor();
  await upload(page, "refunds", instructions("refunds", "Refund up to **50 euros**."));
  const entry = page.getByRole("list", { name: "Skills" }).getByRole("listitem").first();
  await page.getByText("refunds has version 1.").waitFor();
  await entry.getByText("Decides about refunds.").waitFor();
  await entry.getByText("Instructions and files").click();
  await entry.getByText("Refund up to").waitFor();
  await entry.getByText("Narrows the agent to find_order.").waitFor();
  const files = entry.getByRole("list", { name: "Files" }).getByRole("listitem");
  expect(await files.allTextContents()).toEqual(["SKILL.md", "references/law.md"]);

  await upload(page, "refunds", instructions("refunds", "Refund up to 70 euros."));
  await page.getByText("refunds has version 2.").waitFor();
  await entry.getByText("Version 2").waitFor();

  const letTimePass = await holdTimers(page);
  await entry.getByRole("button", { name: "Delete" }).click();
  await page.getByText("No skills yet.").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await entry.getByText("Version 2").waitFor();
  await entry.getByRole("button", { name: "Delete" }).click();
  await letTimePass();
  await expect.poll(async () => (await stage.client.skills.list()).skills).toEqual([]);
  expect(complaints).toEqual([]);
});

testInBrowser("an archive that is not a skill is refused with its mistake", async () => {
  const { page } = await stage.open("/memory/skills");
  await page.getByText("No skills yet.").waitFor();
  await upload(page, "other", instructions("refunds", "Refund."));
  await page.getByText(/SKILL\.md/).waitFor();
  await page.getByText("No skills yet.").waitFor();
});

testAppearances("the skills are accessible", async (context) => {
  const name = `a-skill-with-a-name-of-${"many-".repeat(6)}parts`;
  await stage.client.skills.put(name, {
    "SKILL.md": instructions(name, "Refund up to 50 euros."),
    "references/law.md": LAW.content,
  });
  const { page } = await stage.open("/memory/skills", context);
  const entry = page.getByRole("list", { name: "Skills" }).getByRole("listitem").first();
  await entry.getByText("Instructions and files").click();
  await entry.getByRole("list", { name: "Files" }).waitFor();
  expect(await findings(page)).toEqual([]);
  await stage.client.skills.delete(name);
});
