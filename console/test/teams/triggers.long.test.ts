import { afterAll, beforeAll, expect } from "vitest";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { SAMPLE_COMPONENT } from "../../../test/support/sample-component.ts";
import { findings, testAppearances } from "../support/accessible.ts";
import { holdTimers } from "../support/held-timers.ts";
import { ConsoleStage } from "../support/stage.ts";

let stage: ConsoleStage;
let count = 0;

beforeAll(async () => {
  if (HAS_BROWSER) stage = await ConsoleStage.start();
});

afterAll(() => stage?.[Symbol.asyncDispose]());

async function newTeam(): Promise<string> {
  const id = `desk-${++count}`;
  await stage.client.teams.create({ id, component: SAMPLE_COMPONENT });
  return id;
}

/** Sends an event as a program does. @returns the answer */
async function send(address: string, secret: string, body: object): Promise<{ run?: string }> {
  const response = await fetch(address, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as { run?: string };
}

testInBrowser(
  "triggers are created, changed, deleted and restored, and list their events",
  async () => {
    const id = await newTeam();
    const { page, complaints } = await stage.open(`/teams/${id}`);
    const dialog = page.getByRole("dialog");
    await page.getByRole("link", { name: "Triggers" }).click();
    await page.getByText("No triggers yet.").waitFor();
    await page.getByRole("button", { name: "New trigger" }).click();
    await dialog.getByLabel(/^ID/).fill("orders");
    await dialog.getByLabel("Sender").selectOption("A program");
    await dialog.getByRole("textbox", { name: "Task" }).fill("Check the order {{ order }}.");
    await dialog.getByLabel("User of its runs (optional)").fill("anna");
    await dialog.getByRole("button", { name: "Create trigger" }).click();
    const secretOf = async (): Promise<string> => {
      const shown = page.getByRole("dialog", { name: "Trigger secret" });
      const secret = await shown.getByLabel("Secret").inputValue();
      await shown.getByRole("button", { name: "Done" }).click();
      return secret;
    };
    const secret = await secretOf();
    const entry = page.getByRole("list", { name: "Triggers" }).getByRole("listitem").first();
    await entry.getByText("For anna").waitFor();
    const address = (await entry.locator("code").first().textContent()) ?? "";
    await entry.getByText("Events", { exact: true }).click();
    await entry.getByText("No events in the last seven days.").waitFor();
    const { run } = await send(address, secret, { order: 4711 });
    const started = entry.getByRole("link", { name: "Started a run" });
    expect(await started.getAttribute("href")).toBe(`/teams/${id}/runs/${run}`);

    await entry.getByRole("button", { name: "New secret" }).click();
    expect(await secretOf()).not.toBe(secret);
    await entry.getByRole("button", { name: "Edit" }).click();
    await dialog.getByRole("textbox", { name: "Task" }).fill("Look at {{ order }}.");
    await dialog.getByRole("button", { name: "Save" }).click();
    await entry.getByText("Look at {{ order }}.").waitFor();

    const letTimePass = await holdTimers(page);
    await entry.getByRole("button", { name: "Delete" }).click();
    await page.getByText("No triggers yet.").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await entry.getByText("Look at {{ order }}.").waitFor();
    await entry.getByRole("button", { name: "Delete" }).click();
    await letTimePass();
    const { triggers } = stage.client.team(id);
    await expect.poll(async () => (await triggers.list()).triggers).toEqual([]);
    expect(complaints).toEqual([]);
  },
);

testInBrowser("a trigger of Stripe needs the secret that Stripe has issued", async () => {
  const id = await newTeam();
  const { page } = await stage.open(`/teams/${id}/triggers`);
  await page.getByRole("button", { name: "New trigger" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel(/^ID/).fill("paid");
  await dialog.getByLabel("Sender").selectOption("Stripe");
  await dialog.getByRole("textbox", { name: "Task" }).fill("Thank {{ data.object.name }}.");
  const create = dialog.getByRole("button", { name: "Create trigger" });
  expect(await create.isDisabled()).toBe(true);
  await dialog.getByLabel("Signing secret of Stripe").fill("whsec_of_stripe");
  await create.click();
  const entry = page.getByRole("list", { name: "Triggers" }).getByRole("listitem").first();
  await entry.getByText("Thank {{ data.object.name }}.").waitFor();
  expect(await entry.getByRole("button", { name: "New secret" }).count()).toBe(0);
  expect(await dialog.count()).toBe(0);
});

testInBrowser("a trigger has a filter, receivers of its own, and speaks into runs", async () => {
  const id = await newTeam();
  const { triggers } = stage.client.team(id);
  const { page, complaints } = await stage.open(`/teams/${id}/triggers`);
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "New trigger" }).click();
  await dialog.getByLabel(/^ID/).fill("orders");
  await dialog.getByLabel("Sender").selectOption("A program");
  await dialog.getByRole("textbox", { name: "Task" }).fill("Check the order {{ order }}.");
  const create = dialog.getByRole("button", { name: "Create trigger" });

  const condition = async (path: string, comparison: string, value: string): Promise<void> => {
    await dialog.getByRole("button", { name: "Add condition" }).click();
    const row = dialog.getByRole("group", { name: /^Condition/ }).last();
    await row.getByLabel(/^Path/).fill(path);
    await row.getByLabel(/^Comparison/).selectOption(comparison);
    await row.getByLabel(/^Value/).fill(value);
  };
  await condition("total", "is above", "much");
  expect(await create.isDisabled()).toBe(true);
  await dialog.getByLabel("Value of condition 1").fill("50");
  await condition("country", "is one of", "DE, AT");
  await condition("note", "is", "none");
  await dialog.getByRole("button", { name: "Remove condition 3" }).click();

  await dialog.getByLabel("If another run is active").selectOption("Send the task into it");
  await dialog.getByRole("button", { name: "Add receiver" }).click();
  const receiver = dialog.getByRole("group", { name: "Receiver 1" });
  await receiver.getByLabel("Kind").selectOption("Telegram");
  await receiver.getByLabel("Token of the bot").fill("1:secret");
  await receiver.getByLabel("Chat ID or @channel").fill("@orders");
  await receiver.getByLabel("A run fails").uncheck();
  expect(await findings(page)).toEqual([]);
  await create.click();
  await page.getByRole("dialog", { name: "Trigger secret" }).getByText("Done").click();
  const entry = page.getByRole("list", { name: "Triggers" }).getByRole("listitem").first();
  await entry.getByText("Messages to Telegram").waitFor();
  const filter = {
    when: [
      { argument: "total", above: 50 },
      { argument: "country", in: ["DE", "AT"] },
    ],
  };
  const telegram = { kind: "telegram", chat: "@orders", on: ["run.completed", "request.created"] };
  expect((await triggers.list()).triggers).toMatchObject([
    { id: "orders", filter, on_conflict: "steer", notify: [telegram] },
  ]);

  // The token of the receiver stays, as all that the form does not change.
  const edit = entry.getByRole("group", { name: "orders" }).getByRole("button", { name: "Edit" });
  await edit.click();
  expect(await dialog.getByLabel("Value of condition 2").inputValue()).toBe("DE, AT");
  await dialog.getByRole("button", { name: "Remove condition 1" }).click();
  await dialog.getByRole("group", { name: "Receiver 1" }).getByLabel("A run fails").check();
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  const on = ["run.completed", "run.failed", "request.created"];
  expect((await triggers.list()).triggers).toMatchObject([
    { filter: { when: [{ argument: "country" }] }, notify: [{ ...telegram, on }] },
  ]);
  await edit.click();
  await dialog.getByRole("button", { name: "Remove receiver 1" }).click();
  await dialog.getByRole("button", { name: "Remove condition 1" }).click();
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  const [stored] = (await triggers.list()).triggers;
  expect(stored).toMatchObject({ filter: null, on_conflict: "steer" });
  expect(stored?.notify).toBeUndefined();
  expect(complaints).toEqual([]);
});

testAppearances("the triggers of a team are accessible", async (context) => {
  const id = await newTeam();
  const { triggers } = stage.client.team(id);
  const filter = { when: [{ argument: "total", above: 50 }] };
  const task = "Check the order {{ order }}.";
  const { address, secret = "" } = await triggers.put("orders", {
    kind: "plain",
    task,
    filter,
  });
  await triggers.put("mail", { kind: "standard", task });
  await send(address, secret, { total: 99 });
  await send(address, secret, { total: 9 });
  const { page } = await stage.open(`/teams/${id}/triggers`, context);
  const entry = page.getByRole("listitem").filter({ hasText: address });
  await entry.getByText("Events", { exact: true }).click();
  await entry.getByRole("list", { name: "Events" }).waitFor();
  expect(await findings(page)).toEqual([]);
  await page.getByRole("button", { name: "New trigger" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Add condition" }).click();
  await dialog.getByRole("button", { name: "Add receiver" }).click();
  await dialog.getByRole("group", { name: "Receiver 1" }).waitFor();
  expect(await findings(page)).toEqual([]);
});
