import { afterAll, beforeAll, expect } from "vitest";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { findings } from "../support/accessible.ts";
import { careful } from "../support/components.ts";
import { ConsoleStage, TeamOnPage } from "../support/stage.ts";

let stage: ConsoleStage;
beforeAll(async () => {
  if (HAS_BROWSER) stage = await ConsoleStage.start();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

const CODE = 'total = 0\nfor n in range(10):\n    total += n\nprint("sum", total)';

testInBrowser("arguments are edited in fields, checked, and shown as changes", async () => {
  const team = await stage.client.teams.create({ template: "approval_desk" });
  await team.start("Refund A7.");
  const { page, complaints } = await stage.open(`/teams/${team.id}`);
  const approval = page.getByRole("group", { name: "Approval for clerk" });
  await approval.getByRole("button", { name: "Edit arguments" }).click();
  const amount = approval.getByLabel(/^Amount/);
  await amount.fill("2000");
  await approval.locator(".field-errors").waitFor();
  await amount.fill("49.9");
  await approval.locator(".field-errors").waitFor({ state: "detached" });
  await approval.getByLabel(/^Currency/).selectOption("USD");
  await expect
    .poll(() => approval.locator(".diff del").allTextContents())
    .toEqual(["− 499\n", "− EUR\n"]);
  await expect
    .poll(() => approval.locator(".diff ins").allTextContents())
    .toEqual(["+ 49.9\n", "+ USD\n"]);
  expect(await findings(page)).toEqual([]);
  await approval.getByRole("button", { name: "Approve" }).click();
  await new TeamOnPage(page).status("Completed");
  expect(JSON.stringify((await team.messages()).messages)).toContain("49.90 USD for order A7");
  expect(complaints).toEqual([]);
});

testInBrowser("code in an argument is compared line by line with the requested code", async () => {
  const team = await stage.client.teams.create({ component: careful({ expression: CODE }) });
  await team.start("Go.");
  const { page } = await stage.open(`/teams/${team.id}`);
  const approval = page.getByRole("group", { name: "Approval for clerk" });
  await approval.getByRole("button", { name: "Edit arguments" }).click();
  const code = approval.getByLabel(/^Expression/);
  expect(await code.evaluate((element) => element.tagName)).toBe("TEXTAREA");
  await code.fill(CODE.replace("range(10)", "range(20)"));
  await expect
    .poll(() => approval.locator(".diff del").allTextContents())
    .toEqual(["− for n in range(10):\n"]);
  await expect
    .poll(() => approval.locator(".diff ins").allTextContents())
    .toEqual(["+ for n in range(20):\n"]);
});
