import { afterAll, beforeAll, expect } from "vitest";
import { TroupeClient } from "troupe/client";
import { sha256Hex } from "../../../src/core/hash.ts";
import { speaker as served } from "../../../test/client/support/speaker.ts";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../../test/support/fake-openai/server.ts";
import { findings, testAppearances } from "../support/accessible.ts";
import { delegating, speaker } from "../support/components.ts";
import { ConsoleStage } from "../support/stage.ts";

const KEY = "console-secret";

const WORDS = Array.from({ length: 60 }, (_, place) => `word${place}`);

let models: FakeOpenAI;
let stage: ConsoleStage;
let client: TroupeClient;
beforeAll(async () => {
  if (!HAS_BROWSER) return;
  const content = `<think>Hidden.</think>${WORDS.join(" ")}`;
  models = await startFakeOpenAI({
    // In the middle of the text, and a little later.
    rules: [{ name: "speak", hold: true, hold_after: [8, 20], reply: { content } }],
  });
  const scopes = ["teams:read", "teams:write", "runs:read", "runs:write", "keys:write"];
  stage = await ConsoleStage.start({
    TROUPE_OPEN: "",
    ALLOWED_EGRESS: models.origin,
    API_KEYS: JSON.stringify([{ hash: await sha256Hex(KEY), tenant: "acme", scopes }]),
  });
  client = new TroupeClient({ baseURL: stage.origin, token: KEY });
});
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
  await models?.[Symbol.asyncDispose]();
});

testAppearances("a conversation is shared by a link, read, and revoked", async (context) => {
  const team = await client.teams.create({ component: delegating(), label: "Guided tour" });
  await team.run("Where am I?").result();
  const { page } = await stage.open(`/teams/${team.id}`, context);
  await page.getByLabel("Key or token").fill(KEY);
  await page.keyboard.press("Enter");
  const make = async (part?: string): Promise<string> => {
    await page.getByLabel("More about this team").click();
    await page.getByRole("button", { name: "Share", exact: true }).click();
    const dialog = page.getByRole("dialog");
    expect(await dialog.getByLabel("Expires after").inputValue()).toBe(String(7 * 86_400));
    if (part !== undefined) await dialog.getByLabel(part).check();
    expect(await findings(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Create link" }).click();
    return dialog.getByLabel("Link", { exact: true }).inputValue();
  };
  const address = (await make()).slice(stage.origin.length);

  const { page: reader, complaints } = await stage.open(address, context);
  await reader.getByRole("heading", { name: "Guided tour" }).waitFor();
  await reader.getByText("Where am I?").waitFor();
  await reader.getByText("locate").first().waitFor();
  expect(await reader.content()).not.toContain("precise");
  expect(await findings(reader)).toEqual([]);
  await expect.poll(() => reader.title()).toBe("Guided tour · Troupe");
  await team.run("And now?").result();
  await reader.getByText("And now?").waitFor();
  expect(complaints).toEqual([]);

  await page.getByRole("dialog").getByRole("button", { name: "Revoke this link" }).click();
  await page.getByText("The link was revoked.").waitFor();
  await reader.reload();
  await reader.getByText("This link no longer works").waitFor();

  const more = await make("Tool arguments and results");
  // The page loads itself again, because only the fragment has changed.
  await reader.goto(more);
  await reader.getByText("precise").first().waitFor();

  await page.getByRole("button", { name: "Done" }).click();
  await page.getByLabel("More about this team").click();
  await page.getByRole("button", { name: "Share", exact: true }).click();
  const links = page.getByRole("region", { name: "Active links" });
  await links.getByText("Conversation, tools, by static").waitFor();
  expect(await findings(page)).toEqual([]);
  await links.getByRole("button", { name: "Revoke" }).click();
  await expect.poll(() => links.count()).toBe(0);
  await reader.reload();
  await reader.getByText("This link no longer works").waitFor();
});

for (const colorScheme of ["light", "dark"] as const) {
  testInBrowser(`a link shows a text while it is written (${colorScheme})`, async () => {
    const team = await client.teams.create({
      component: served(models.url),
      label: "Live",
    });
    const { token } = await team.createToken({ scopes: ["conversation:read"], expires_in: 600 });
    const tab = await stage.open(`/shared/${team.id}#${token}`, { colorScheme });
    const { page } = tab;
    await page.getByText("No messages yet").waitFor();
    models.rules.hold("speak");
    await team.start("Speak.");
    const text = page.locator("article[aria-busy] .body");
    await text.getByText("word3").waitFor();
    expect(await findings(page)).toEqual([]);
    await page.reload();
    models.release("speak");
    models.rules.hold("speak");
    await text.getByText("word10").waitFor();
    expect(await page.content()).not.toContain("Hidden");
    // Nothing is missing and nothing is doubled, before and after the message takes the place of the text.
    const written = (await text.textContent())?.trim().split(" ") ?? [];
    expect(WORDS.slice(0, written.length - 1)).toEqual(written.slice(0, -1));
    models.release("speak");
    await page.locator("article:not([aria-busy])", { hasText: "word59" }).waitFor();
    await expect.poll(() => text.count()).toBe(0);
    await expect
      .poll(() => page.locator("article .body").allTextContents())
      .toEqual(["Speak.", WORDS.join(" ")]);
    expect(tab.complaints).toEqual([]);
  });
}

testInBrowser("a page of a reader reports that its link is revoked", async () => {
  const team = await client.teams.create({ component: speaker(["Yes."]), label: "Revoked" });
  const { token, id } = await team.createToken({ scopes: ["conversation:read"], expires_in: 600 });
  const { page } = await stage.open(`/shared/${team.id}#${token}`);
  await page.getByText("No messages yet").waitFor();
  await team.revokeTokens(id);
  await page.getByText("It expired or was revoked. Ask for a new one.").waitFor();
  expect(await page.getByRole("heading").allTextContents()).toEqual(["This link no longer works"]);
});
