import { afterAll, beforeAll, expect } from "vitest";
import type { Page } from "playwright-core";
import { type TeamClient, TroupeClient } from "troupe/client";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { findings } from "../support/accessible.ts";
import { careful } from "../support/components.ts";
import { holdTimers } from "../support/held-timers.ts";
import { keyOf } from "../support/keys.ts";
import { ConsoleStage } from "../support/stage.ts";

const ALL = ["teams:read", "teams:write", "runs:read", "runs:write", "requests:write"];

let stage: ConsoleStage;
/** The user of the page, and a colleague. */
let ada: TroupeClient;
let bob: TroupeClient;
beforeAll(async () => {
  if (!HAS_BROWSER) return;
  const keys = ["ada", "bob"].map((name) => ({ ...keyOf(name, ALL), name }));
  stage = await ConsoleStage.start({ TROUPE_OPEN: "", API_KEYS: JSON.stringify(keys) });
  ada = new TroupeClient({ baseURL: stage.origin, token: "ada" });
  bob = new TroupeClient({ baseURL: stage.origin, token: "bob" });
});
afterAll(() => stage?.[Symbol.asyncDispose]());

/** Opens the inbox as Ada. */
async function inbox(): Promise<Page> {
  const { page } = await stage.open("/inbox");
  await page.getByLabel("Key or token").fill("ada");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  return page;
}

/** A team whose calls need two people, and its run that waits for them. */
async function waiting(label: string): Promise<{ team: TeamClient; run: string }> {
  const rule = { when: [{ argument: "expression", matches: "\\*" }], quorum: 2, remember: "team" };
  const component = JSON.parse(
    JSON.stringify(careful()).replaceAll(
      '"approval":"human"',
      `"approval":${JSON.stringify(rule)}`,
    ),
  ) as ReturnType<typeof careful>;
  const team = await ada.teams.create({ component, label });
  const { id } = await team.start(`Calculate it, ${label}.`);
  await expect.poll(async () => (await team.getRun(id)).status).toBe("waiting");
  return { team, run: id };
}

testInBrowser(
  "a card counts a quorum, allows equal calls for the team, and the approval is revoked",
  async () => {
    const { team, run } = await waiting("Bills");
    const page = await inbox();
    const letTimePass = await holdTimers(page);
    const card = page.locator(".requests > li", { hasText: "Bills" });
    await card.getByText("Approved by 0 of 2.").waitFor();
    await card.getByText("expression is 6 * 7 (rule: matches \\*).").waitFor();
    const [request] = await team.requests(run);
    await bob.team(team.id).answer(run, request!.id, { approved: true, allow: "team" });
    await card.getByText("Approved by 1 of 2: bob.").waitFor();
    await card.getByLabel("Always allow this").selectOption("Always in this team");
    expect(await findings(page)).toEqual([]);
    await card.getByRole("button", { name: "Approve" }).press("Enter");
    await letTimePass();
    await expect.poll(async () => (await team.getRun(run)).status).toBe("completed");

    await page.goto(`${stage.origin}/teams/${team.id}/runs/${run}`);
    await page.getByText("Approvals of this run").click();
    const decisions = page.getByRole("region", { name: "Decisions" });
    await decisions.getByText("Approved by bob").waitFor();
    expect(await findings(page)).toEqual([]);

    await page.goto(`${stage.origin}/teams/${team.id}`);
    await page.getByLabel("More about this team").click();
    await page.getByRole("button", { name: "Stored approvals" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("6 * 7").waitFor();
    expect(await findings(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Revoke" }).click();
    await dialog.getByText("Nothing is always allowed.").waitFor();
    expect((await team.approvals()).approvals).toEqual([]);
    await team.delete();
  },
);

testInBrowser(
  "arguments that a colleague changes are shown, and need another approval",
  async () => {
    const { team, run } = await waiting("Changes");
    const page = await inbox();
    const letTimePass = await holdTimers(page);
    const card = page.locator(".requests > li", { hasText: "Changes" });
    await card.getByRole("button", { name: "Approve" }).press("Enter");
    await letTimePass();
    await card.getByText("Counted. Others have to approve as well.").waitFor();
    const [request] = await team.requests(run);
    const edit = { approved: true, arguments: { expression: "7 * 7" } };
    await bob.team(team.id).answer(run, request!.id, edit);
    await card.getByText("The arguments were changed by an approver.").waitFor();
    const letTimePassAgain = await holdTimers(page);
    await card.getByRole("button", { name: "Approve" }).press("Enter");
    await letTimePassAgain();
    await expect.poll(async () => (await team.getRun(run)).status).toBe("completed");
    expect((await team.decisions(run)).decisions).toMatchObject([
      {
        outcome: "approved",
        arguments: { expression: "7 * 7" },
        by: [{ subject: "bob" }, { subject: "ada" }],
      },
    ]);
    await team.delete();
  },
);
