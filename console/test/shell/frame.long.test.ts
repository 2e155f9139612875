import { afterAll, beforeAll, expect } from "vitest";
import type { Page, Route } from "playwright-core";
import { TroupeClient } from "troupe/client";
import { sha256Hex } from "../../../src/core/hash.ts";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { findings, testAppearances } from "../support/accessible.ts";
import { speaker } from "../support/components.ts";
import { ConsoleStage, TeamOnPage } from "../support/stage.ts";

const OWNER = "owner-secret";
const ACCOUNTANT = "accountant-secret";
const OPERATOR = "operator-secret";

let stage: ConsoleStage;
let client: TroupeClient;
beforeAll(async () => {
  if (!HAS_BROWSER) return;
  const scopes = ["teams:read", "teams:write", "runs:read", "runs:write", "keys:write"];
  stage = await ConsoleStage.start({
    TROUPE_OPEN: "",
    OPERATOR_KEY_HASH: await sha256Hex(OPERATOR),
    API_KEYS: JSON.stringify([
      { hash: await sha256Hex(OWNER), tenant: "acme", scopes },
      { hash: await sha256Hex(ACCOUNTANT), tenant: "acme", scopes: ["usage:read"] },
    ]),
  });
  client = new TroupeClient({ baseURL: stage.origin, token: OWNER });
});
afterAll(() => stage?.[Symbol.asyncDispose]());

async function enter(page: Page, key: string): Promise<void> {
  await page.getByLabel("Key or token").fill(key);
  await page.keyboard.press("Enter");
}

testAppearances("a team's pages are tabs, and titles name them", async (context) => {
  const team = await client.teams.create({ component: speaker(["Hello."]), label: "Greeter" });
  await team.run("Greet me.").result();
  const { page, complaints } = await stage.open(`/teams/${team.id}`, context);
  await enter(page, OWNER);
  const tabs = page.getByRole("navigation", { name: "Team" });
  await tabs.getByRole("link", { name: "Conversation" }).waitFor();
  await expect.poll(() => page.title()).toBe("Greeter · Troupe");
  for (const [tab, title] of [
    ["Picture", "Picture of Greeter · Troupe"],
    ["Files", "Files of Greeter · Troupe"],
    ["Schedules", "Schedules of Greeter · Troupe"],
    ["Runs", "Runs of Greeter · Troupe"],
    ["API", "API of Greeter · Troupe"],
  ] as const) {
    await tabs.getByRole("link", { name: tab }).click();
    await expect.poll(() => page.title()).toBe(title);
    await expect.poll(() => tabs.locator("[aria-current=page]").textContent()).toBe(tab);
    await expect.poll(() => page.locator(".loading").count()).toBe(0);
    expect(await findings(page)).toEqual([]);
  }
  for (const name of ["curl", "TypeScript", "OpenAI", "MCP", "AG-UI"]) {
    await page.getByRole("button", { name, exact: true }).click();
    await page.locator("pre").getByText(team.id).first().waitFor();
  }
  // A server without a sandbox has no files.
  expect(complaints.filter((complaint) => !/40[14]|503/.test(complaint))).toEqual([]);
});

testAppearances("all tabs of a team have the same header and the same column", async (context) => {
  const failing = await client.teams.create({ component: speaker([]), label: "A team that fails" });
  await failing.start("Greet me.");
  const { page } = await stage.open(`/teams/${failing.id}`, context);
  await enter(page, OWNER);
  await new TeamOnPage(page).status("Failed");
  const seen = new Map<string, unknown>();
  for (const tab of [
    "Conversation",
    "Picture",
    "Files",
    "Schedules",
    "Triggers",
    "Runs",
    "Versions",
    "API",
  ]) {
    await page.getByRole("navigation", { name: "Team" }).getByRole("link", { name: tab }).click();
    await expect.poll(() => page.locator(".team-tabs [aria-current=page]").textContent()).toBe(tab);
    await expect.poll(() => page.locator(".loading").count()).toBe(0);
    await expect.poll(() => page.evaluate(CURRENT_IS_WHOLE)).toBe(true);
    seen.set(tab, await page.evaluate(FRAME));
  }
  const [first] = seen.values();
  expect(first).toMatchObject({
    texts: expect.arrayContaining(["A team that fails", "Last run failed"]),
  });
  for (const [tab, frame] of seen) expect([tab, frame]).toEqual([tab, first]);
});

/** True if the row of tabs shows the whole name of the current one. */
const CURRENT_IS_WHOLE = `(() => {
  const row = document.querySelector(".team-tabs").getBoundingClientRect();
  const tab = document.querySelector(".team-tabs [aria-current]").getBoundingClientRect();
  return tab.left >= row.left - 1 && tab.right <= row.right + 1;
})()`;

/** The texts and boxes of the header without what its menus hold, and the column of the content. */
const FRAME = `(() => {
  const boxOf = (element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return [x, y, width, height].map(Math.round);
  };
  const head = document.querySelector(".team-head");
  // A narrow row of tabs is scrolled to the current one.
  const all = head.querySelectorAll("h1, a, button, summary, .status, .team-tabs");
  const parts = [...all].filter((part) => part.closest(".menu-items, .team-tabs *") === null);
  return {
    texts: parts.map((part) => part.textContent),
    boxes: [head, ...parts].map(boxOf),
    content: boxOf(document.querySelector(".team-content > *")).toSpliced(3, 1),
  };
})()`;

testInBrowser("credentials open the first page that they may see", async () => {
  const { page } = await stage.open("/");
  await enter(page, ACCOUNTANT);
  await page.getByRole("heading", { name: "Usage", exact: true }).waitFor();
  const places = page.getByRole("navigation", { name: "Main" }).getByRole("link");
  await expect.poll(() => places.allTextContents()).toEqual(["Usage"]);

  const team = await client.teams.create({ component: speaker(["Hello."]), label: "Only this" });
  const { token } = await team.createToken({
    scopes: ["teams:read", "runs:read"],
    expires_in: 600,
  });
  await page.getByRole("button", { name: "Log out" }).click();
  await page.goto(stage.origin);
  await enter(page, token);
  await page.getByRole("heading", { name: "Only this" }).waitFor();
  await expect.poll(() => places.allTextContents()).toEqual(["Team"]);
});

testInBrowser(
  "a draft survives a reload, and is gone once it is sent or the user logs out",
  async () => {
    const team = await client.teams.create({ component: speaker(["Hello."]) });
    const { page } = await stage.open(`/teams/${team.id}`);
    await enter(page, OWNER);
    const { composer } = new TeamOnPage(page);
    await composer.fill("A half-written task");
    await page.reload();
    await expect.poll(() => composer.inputValue()).toBe("A half-written task");
    await composer.press("Enter");
    await new TeamOnPage(page).status("Completed");
    expect(await page.evaluate("JSON.stringify(localStorage)")).not.toContain("half-written");
    await composer.fill("Another one");
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByLabel("Key or token").waitFor();
    expect(await page.evaluate("JSON.stringify(localStorage)")).not.toContain("Another one");
  },
);

testInBrowser("a page that was loaded while the server was away comes back by itself", async () => {
  const { page } = await stage.open("/runs");
  await enter(page, OWNER);
  await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
  await page.route("**/v1/**", (route) => route.abort());
  await page.reload();
  await page.getByRole("heading", { name: "The server can't be reached" }).waitFor();
  await page.unroute("**/v1/**");
  await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
});

testInBrowser("Ctrl+K finds pages, teams, tasks of runs, and messages of the team", async () => {
  const team = await client.teams.create({ component: speaker(["Forty-two."]), label: "Oracle" });
  await team.run("What is the meaning of everything?").result();
  // The list of all runs follows the teams.
  await expect.poll(async () => (await client.runs.list({ q: "forty-two" })).runs).toHaveLength(1);
  const { page } = await stage.open("/");
  await enter(page, OWNER);
  await page.getByRole("heading", { name: "Home" }).waitFor();
  const find = async (text: string): Promise<void> => {
    await page.keyboard.press("Control+k");
    await page.getByLabel("Find pages, teams, runs and messages").fill(text);
  };
  await find("oracl");
  await page.getByRole("option", { name: /Team Oracle/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Oracle" }).waitFor();
  await find("forty-two");
  await page.getByRole("option", { name: /Message speaker.*Forty-two/ }).click();
  await page.waitForURL(/\?turn=\d+$/);
  await page.locator("article", { hasText: "Forty-two." }).waitFor();
  await find("meaning of");
  await page.getByRole("option", { name: /Run What is the meaning.*Forty-two/ }).waitFor();
  expect(await findings(page)).toEqual([]);
  await page.getByRole("option", { name: /Run What is the meaning/ }).click();
  await page.getByRole("heading", { name: /^Run/ }).waitFor();
  await find("webh");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Webhooks", exact: true }).waitFor();
});

for (const colorScheme of ["light", "dark"] as const) {
  testInBrowser(
    `Ctrl+K finds messages of all teams, under their names (${colorScheme})`,
    async () => {
      for (const label of ["Harbour", "Coast"]) {
        const component = speaker([`A ${colorScheme} lighthouse at the ${label.toLowerCase()}.`]);
        const team = await client.teams.create({ component, label: `${label} ${colorScheme}` });
        await team.run("What is there?").result();
      }
      const q = `${colorScheme} lighthouse at`;
      await expect.poll(async () => (await client.messages.search({ q })).messages).toHaveLength(2);
      const { page } = await stage.open("/", { colorScheme });
      await enter(page, OWNER);
      await page.getByRole("heading", { name: "Home" }).waitFor();
      const late: Route[] = [];
      await page.route(
        ({ pathname, searchParams }) => pathname === "/v1/runs" && searchParams.has("q"),
        (route) => void late.push(route),
      );
      await page.keyboard.press("Control+k");
      await page.getByLabel("Find pages, teams, runs and messages").fill(q);
      const under = (team: string) => page.getByRole("group", { name: `${team} ${colorScheme}` });
      await under("Coast")
        .getByRole("option", { name: /Message speaker.*at the coast/ })
        .waitFor();
      const wanted = under("Harbour").getByRole("option", { name: /Message speaker.*the harbour/ });
      await wanted.waitFor();
      expect(await findings(page)).toEqual([]);
      for (let step = 0; step < 10; step++) {
        if ((await wanted.getAttribute("aria-selected")) === "true") break;
        await page.keyboard.press("ArrowDown");
      }
      // A later result above it does not change what was picked.
      await expect.poll(() => late.length).toBe(1);
      await late[0]?.continue();
      await page.getByRole("option", { name: /^Run/ }).first().waitFor();
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/teams\/[\w-]+\?turn=\d+$/);
      await page.getByRole("heading", { name: `Harbour ${colorScheme}` }).waitFor();
      await page.locator("article", { hasText: "lighthouse at the harbour." }).waitFor();
    },
  );
}

testInBrowser("an operator chooses a tenant, and another one", async () => {
  await client.teams.create({ component: speaker(["Hello."]), label: "Acme's team" });
  const { page } = await stage.open("/teams");
  await enter(page, OPERATOR);
  await page.getByRole("heading", { name: "Choose a tenant" }).waitFor();
  expect(await findings(page)).toEqual([]);
  await page.getByRole("button", { name: "acme" }).click();
  await page.getByRole("row", { name: /Acme's team/ }).waitFor();
  await page.reload();
  await page.getByRole("row", { name: /Acme's team/ }).waitFor();
  await page.getByTitle("Choose another tenant").click();
  await page.getByRole("heading", { name: "Choose a tenant" }).waitFor();
});

testInBrowser("finished messages are announced to screen readers", async () => {
  const team = await client.teams.create({ component: speaker(["An old reply.", "A new reply."]) });
  await team.run("First.").result();
  const { page } = await stage.open(`/teams/${team.id}`);
  await enter(page, OWNER);
  await page.getByText("An old reply.").waitFor();
  const live = page.locator("p[aria-live=polite]");
  expect(await live.textContent()).toBe("");
  await new TeamOnPage(page).send("Second.");
  await expect.poll(() => live.textContent()).toBe("speaker says: A new reply.");
});
