import { afterAll, beforeAll, expect } from "vitest";
import { TroupeClient } from "troupe/client";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { Sandbox } from "../../../test/support/sandbox.ts";
import { findings, testAppearances } from "../support/accessible.ts";
import { speaker } from "../support/components.ts";
import { holdTimers } from "../support/held-timers.ts";
import { keyOf } from "../support/keys.ts";
import { tabTo } from "../support/keyboard.ts";
import { ConsoleStage } from "../support/stage.ts";

const KEY = "a-key-of-this-test";
const READER = "a-key-that-reads-runs";

let sandbox: Sandbox;
let stage: ConsoleStage;
let client: TroupeClient;
beforeAll(async () => {
  if (!HAS_BROWSER) return;
  sandbox = await Sandbox.start();
  stage = await ConsoleStage.start({ SANDBOX_URL: sandbox.url, SANDBOX_KEY: sandbox.key });
  client = new TroupeClient({ baseURL: stage.origin });
});
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
  await sandbox?.[Symbol.asyncDispose]();
});

testAppearances("axe finds nothing on files, schedules, webhooks and keys", async (context) => {
  const team = await client.teams.create({ component: speaker(["Hello."]), label: "Talk" });
  const path = `${"a-long-name".repeat(8)}.py`;
  await team.writeFile(path, "# a comment\n");
  await team.createSchedule({ cron: "0 8 * * 1-5", task: "Report." });
  await team.createSchedule({ cron: "0 9 * * *", enabled: false });
  const id = "x".repeat(64);
  await client.webhooks.put(id, { url: "http://127.0.0.1:9/hook", events: ["run.completed"] });
  await team.run("Go.").result();
  await client.keys.create({ name: "Reports", scopes: ["teams:read"], expires_in: 60 });

  const { page } = await stage.open(`/teams/${team.id}/files`, context);
  const check = async (shown: string): Promise<void> => {
    await page.locator(shown).first().waitFor();
    expect(await findings(page)).toEqual([]);
  };
  const press = (button: string) => page.getByRole("button", { name: button }).first().click();
  await check(".files-table");
  await press(path);
  await check(".hljs-comment");
  await page.goto(`${stage.origin}/teams/${team.id}/schedules`);
  await check(".item");
  await press("New schedule");
  await check(".meaning ol");
  await page.goto(`${stage.origin}/webhooks`);
  await press("Test");
  await check(".attempt");
  await press("New webhook");
  await check(".choices");
  await page.goto(`${stage.origin}/webhooks/${id}`);
  await check(".item .attempt");
  await page.goto(`${stage.origin}/keys`);
  await check(".item");
  await press("New key");
  await check(".choices");
  await page.getByLabel("Name").fill("Reports");
  await page.getByLabel(/teams:read/).check();
  await press("Create key");
  await check(".secret");
  await client.webhooks.delete(id);
});

testInBrowser("a file is opened, deleted and brought back with the keyboard alone", async () => {
  const team = await client.teams.create({ component: speaker(["Hello."]) });
  await team.writeFile("notes.txt", "Some notes.");
  const { page } = await stage.open(`/teams/${team.id}/files`);
  await page.getByRole("button", { name: "notes.txt", exact: true }).waitFor();
  await tabTo(page, /^notes\.txt$/);
  await page.keyboard.press("Enter");
  await page.getByText("Some notes.").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const letTimePass = await holdTimers(page);
  await tabTo(page, /^Delete notes\.txt$/);
  await page.keyboard.press("Enter");
  await page.getByText("No files yet").waitFor();
  await tabTo(page, /^Undo$/);
  // The time stands still while the focus is there.
  await letTimePass();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "notes.txt", exact: true }).waitFor();
  expect(await (await team.readFile("notes.txt")).text()).toBe("Some notes.");
});

testInBrowser("a key sees and changes the parts that its scopes allow", async () => {
  await using closed = await ConsoleStage.start({
    TROUPE_OPEN: "",
    API_KEYS: JSON.stringify([
      keyOf(KEY, ["teams:read", "teams:write"]),
      keyOf(READER, ["teams:read", "runs:read"]),
    ]),
  });
  const owner = new TroupeClient({ baseURL: closed.origin, token: KEY });
  const team = await owner.teams.create({ component: speaker(["Hello."]) });
  const { page } = await closed.open("/webhooks");
  await page.getByLabel("Key or token").fill(READER);
  await page.keyboard.press("Enter");
  await page.getByText("No webhooks yet").waitFor();
  await expect.poll(() => page.getByRole("button", { name: "New webhook" }).count()).toBe(0);
  const places = page.getByRole("navigation", { name: "Main" }).getByRole("link");
  await expect
    .poll(async () => (await places.allTextContents()).map((place) => place.trim()))
    .toEqual(["Home", "Teams", "Inbox", "Runs", "Memory", "Webhooks", "Connections"]);
  await page.goto(`${closed.origin}/teams/${team.id}/schedules`);
  await page.getByText("No schedules yet").waitFor();
  await expect.poll(() => page.getByRole("button", { name: "New schedule" }).count()).toBe(0);
  await page.goto(`${closed.origin}/keys`);
  await page.getByText("keys:write").waitFor();
});
