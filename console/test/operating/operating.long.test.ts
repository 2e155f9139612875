import { readFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { Sandbox } from "../../../test/support/sandbox.ts";
import { WebhookReceiver } from "../../../test/support/webhook-receiver.ts";
import { speaker } from "../support/components.ts";
import { holdTimers } from "../support/held-timers.ts";
import { ConsoleStage } from "../support/stage.ts";

let sandbox: Sandbox;
let receiver: WebhookReceiver;
let stage: ConsoleStage;
beforeAll(async () => {
  if (!HAS_BROWSER) return;
  sandbox = await Sandbox.start();
  receiver = await WebhookReceiver.start();
  stage = await ConsoleStage.start({ SANDBOX_URL: sandbox.url, SANDBOX_KEY: sandbox.key });
});
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
  await receiver?.[Symbol.asyncDispose]();
  await sandbox?.[Symbol.asyncDispose]();
});
beforeEach(() => receiver?.reset());

const CODE = "# a comment\nprint(6 * 7)\n";
/** A PNG of one pixel. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** The width of an image in pixels. */
const widthOf = (image: object): unknown => (image as { naturalWidth?: number }).naturalWidth;

testInBrowser("files are dropped, shown, downloaded, deleted and brought back", async () => {
  const team = await stage.client.teams.create({ component: speaker(["Hello."]), label: "Files" });
  const { page, complaints } = await stage.open(`/teams/${team.id}`);
  await page.getByLabel("More about this team").click();
  await page.getByRole("link", { name: "Files" }).click();
  await page.getByText("No files yet").waitFor();
  await page.evaluate(`{
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([${JSON.stringify(CODE)}], "program.py"));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
  }`);
  const file = (name: string) => page.getByRole("button", { name, exact: true });
  await file("program.py").waitFor();
  expect(await (await team.readFile("program.py")).text()).toBe(CODE);
  await page.locator('input[type="file"]').setInputFiles([
    { name: "pixel.png", mimeType: "image/png", buffer: Buffer.from(PIXEL, "base64") },
    { name: "bytes.bin", mimeType: "", buffer: Buffer.from([0, 255, 1]) },
  ]);
  await file("bytes.bin").waitFor();

  const dialog = page.getByRole("dialog");
  await file("program.py").click();
  await dialog.locator(".hljs-comment").waitFor();
  const downloading = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Download program.py" }).click();
  expect(readFileSync(await (await downloading).path(), "utf8")).toBe(CODE);
  await page.keyboard.press("Escape");
  await file("pixel.png").click();
  await expect.poll(() => dialog.getByAltText("pixel.png").evaluate(widthOf)).toBe(1);
  await page.keyboard.press("Escape");
  await file("bytes.bin").click();
  await dialog.getByText("Only text and images have a preview.").waitFor();
  await page.keyboard.press("Escape");

  const letTimePass = await holdTimers(page);
  await page.getByRole("button", { name: "Delete bytes.bin" }).click();
  await file("bytes.bin").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).click();
  await file("bytes.bin").waitFor();
  await page.getByRole("button", { name: "Delete bytes.bin" }).click();
  await page.getByRole("button", { name: "Delete pixel.png" }).click();
  await file("pixel.png").waitFor({ state: "detached" });
  expect((await team.files()).files).toHaveLength(3);
  await page.keyboard.press("Control+z");
  await file("pixel.png").waitFor();
  const left = async () => (await team.files()).files.map(({ path }) => path);
  await letTimePass();
  await expect.poll(left).toEqual(["pixel.png", "program.py"]);
  expect(complaints).toEqual([]);
});

testInBrowser("a file that code has written is opened from the conversation", async () => {
  const team = await stage.client.teams.create({ template: "code_runner" });
  await team.run("```python\nopen('hello.txt', 'w').write('Hello from the code.')\n```").result();
  const { page } = await stage.open(`/teams/${team.id}`);
  await page.getByRole("link", { name: "hello.txt" }).click();
  const panel = page.getByRole("complementary", { name: "File" });
  await panel.getByText("Hello from the code.").waitFor();
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "hello.txt" }).click();
  await panel.getByRole("link", { name: "All files" }).click();
  await page.getByRole("button", { name: "hello.txt", exact: true }).waitFor();
});

testInBrowser("a deletion that can be undone is made at once when the page is left", async () => {
  const team = await stage.client.teams.create({ component: speaker(["Hello."]) });
  await team.writeFile("a.txt", "a");
  const { page } = await stage.open(`/teams/${team.id}/files`);
  await holdTimers(page);
  await page.getByRole("button", { name: "Delete a.txt" }).click();
  await page.getByText("a.txt was deleted.").waitFor();
  await page.goto("about:blank");
  await expect.poll(async () => (await team.files()).files).toEqual([]);
});

testInBrowser("a file that is uploaded again while it is being deleted stays", async () => {
  const team = await stage.client.teams.create({ component: speaker(["Hello."]) });
  await team.writeFile("a.txt", "old");
  const { page } = await stage.open(`/teams/${team.id}/files`);
  await holdTimers(page);
  await page.getByRole("button", { name: "Delete a.txt" }).click();
  const buffer = Buffer.from("new");
  await page
    .locator('input[type="file"]')
    .setInputFiles({ name: "a.txt", mimeType: "text/plain", buffer });
  await page.getByText("a.txt was uploaded.").waitFor();
  await page.getByRole("button", { name: "a.txt", exact: true }).waitFor();
  await page.goto("about:blank");
  expect(await (await team.readFile("a.txt")).text()).toBe("new");
});

testInBrowser("a schedule is made in words, changed, paused, run and deleted", async () => {
  const team = await stage.client.teams.create({ component: speaker(["Done."]), label: "Reports" });
  const { page, complaints } = await stage.open(`/teams/${team.id}/schedules`, {
    timezoneId: "Europe/Berlin",
  });
  await page.getByText("No schedules yet").waitFor();
  await page.getByRole("button", { name: "New schedule" }).click();
  const dialog = page.getByRole("dialog");
  const cron = dialog.getByLabel(/^Cron expression/);
  const create = dialog.getByRole("button", { name: "Create schedule" });
  await expect.poll(() => dialog.getByLabel("Time zone").inputValue()).toBe("Europe/Berlin");
  await cron.fill("0 8 * *");
  await dialog.getByText("Enter five fields").waitFor();
  await expect.poll(() => create.isDisabled()).toBe(true);
  await cron.fill("0 0 30 2 *");
  await dialog.getByText("This expression never matches.").waitFor();
  await cron.fill("30 6 1 1 *");
  await dialog.getByText("At 06:30, on day 1 of the month, only in January").waitFor();
  await expect
    .poll(() => dialog.locator(".meaning li").allTextContents())
    .toEqual(
      [1, 2, 3].map(
        (year) => expect.stringMatching(`${new Date().getFullYear() + year}, 06:30`) as string,
      ),
    );
  await dialog.getByLabel(/^Task/).fill("Report.");
  await create.click();
  await dialog.waitFor({ state: "detached" });
  const [made] = (await team.schedules()).schedules;
  expect(made).toMatchObject({
    cron: "30 6 1 1 *",
    timezone: "Europe/Berlin",
    task: [{ type: "TextMessage", content: "Report." }],
    on_conflict: "queue",
    enabled: true,
  });
  const shown = page.getByRole("listitem").filter({ hasText: "Report." });
  await shown.getByText(`${new Date().getFullYear() + 1}, 06:30`).waitFor();

  await shown.getByRole("button", { name: "Edit" }).click();
  await expect.poll(() => dialog.getByLabel(/^Task/).inputValue()).toBe("Report.");
  await dialog.getByRole("button", { name: "every hour" }).click();
  await dialog.getByRole("button", { name: "Save" }).click();
  await shown.getByText("Every hour").waitFor();
  await shown.getByRole("button", { name: "Pause" }).click();
  await shown.getByText("Paused").waitFor();
  await expect
    .poll(async () => (await team.schedules()).schedules)
    .toMatchObject([{ cron: "0 * * * *", enabled: false }]);
  await shown.getByRole("button", { name: "Run now" }).click();
  await page.getByText("The run was started.").waitFor();
  await expect
    .poll(async () => (await team.runs()).runs.map(({ status }) => status))
    .toEqual(["completed"]);
  await shown.getByRole("button", { name: "Resume" }).click();
  await shown.getByRole("button", { name: "Pause" }).waitFor();
  await shown.getByRole("button", { name: "Delete" }).click();
  await page.getByText("No schedules yet").waitFor();
  await expect.poll(async () => (await team.schedules()).schedules).toEqual([]);
  expect(complaints).toEqual([]);
});

testInBrowser("a webhook is made, tested, changed, and its deliveries are sent again", async () => {
  const { client } = stage;
  const { page, complaints } = await stage.open("/");
  await page.getByRole("link", { name: "Webhooks" }).click();
  await page.getByRole("button", { name: "New webhook" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel(/^ID/).fill("ops");
  await dialog.getByLabel("URL").fill(receiver.url());
  await dialog.getByLabel("a run fails").uncheck();
  await dialog.getByRole("button", { name: "Create webhook" }).click();
  const secret = dialog.getByLabel("Secret");
  const first = await secret.inputValue();
  expect(first).toMatch(/^whsec_/);
  await dialog.getByRole("button", { name: "Done" }).click();
  const shown = page.getByRole("listitem").filter({ hasText: receiver.url() });
  await shown.getByRole("button", { name: "Test" }).click();
  await shown.getByText("response 200").waitFor();
  await receiver.events(first, 1);

  await shown.getByRole("button", { name: "New secret" }).click();
  const second = await secret.inputValue();
  expect(second).not.toBe(first);
  await dialog.getByRole("button", { name: "Done" }).click();
  await shown.getByRole("button", { name: "Edit" }).click();
  await dialog.getByLabel(/^Description/).fill("For the operators");
  await dialog.getByRole("button", { name: "Save" }).click();
  await shown.getByText("For the operators").waitFor();

  receiver.reset();
  // No attempt comes by itself before that.
  const headers = { "retry-after": "3600" };
  receiver.respond = (response) => void response.writeHead(418, headers).end("A teapot.");
  const team = await client.teams.create({ component: speaker(["Done."]) });
  await team.run("Go.").result();
  await shown.getByRole("link", { name: "ops" }).click();
  const delivery = page.getByRole("listitem").filter({ hasText: "run.completed" });
  await delivery.getByText("A teapot.").waitFor();
  await delivery.getByText("Pending").waitFor();
  receiver.reset();
  await delivery.getByRole("button", { name: "Send again" }).click();
  await delivery.getByText("Delivered").waitFor();
  await receiver.events(second, 1);
  await page.getByLabel("Status").selectOption("failed");
  await page.getByText("No deliveries are failed").waitFor();
  await page.getByRole("link", { name: "All webhooks" }).click();
  await shown.getByRole("button", { name: "Delete" }).click();
  await page.getByText("No webhooks yet").waitFor();
  await expect.poll(() => client.webhooks.list()).toEqual([]);
  expect(complaints).toEqual([]);
});

testInBrowser("a key is made with scopes and an end, shown once, and revoked", async () => {
  const { client } = stage;
  const { page, complaints } = await stage.open("/keys");
  await page.getByText("No keys yet").waitFor();
  await page.getByRole("button", { name: "New key" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Reports");
  const create = dialog.getByRole("button", { name: "Create key" });
  await expect.poll(() => create.isDisabled()).toBe(true);
  await dialog.getByLabel(/usage:read/).check();
  await dialog.getByLabel("Expires after").selectOption("7 days");
  await create.click();
  await expect.poll(() => dialog.getByLabel("Secret").inputValue()).toMatch(/^trp_local_/);
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.getByText("Reports", { exact: true }).waitFor();
  const [key] = (await client.keys.list()).keys;
  expect(key).toMatchObject({ name: "Reports", scopes: ["usage:read"] });
  const life = Date.parse(key?.expires_at ?? "") - Date.parse(key?.created_at ?? "");
  expect(life / 86_400_000).toBeCloseTo(7, 3);

  const team = await client.teams.create({ component: speaker(["Hello."]) });
  await page.getByRole("button", { name: "New team token" }).click();
  await dialog.getByLabel("Team ID").fill(team.id);
  await dialog.getByLabel(/runs:read/).check();
  await dialog.getByRole("button", { name: "Create token" }).click();
  await expect.poll(() => dialog.getByLabel("Secret").inputValue()).not.toBe("");
  await dialog.getByRole("button", { name: "Done" }).click();

  await page.getByRole("button", { name: "Revoke Reports" }).click();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Revoke Reports" }).click();
  await dialog.getByRole("button", { name: "Revoke", exact: true }).click();
  await page.getByText("No keys yet").waitFor();
  expect((await client.keys.list()).keys).toEqual([]);
  expect(complaints).toEqual([]);
});
