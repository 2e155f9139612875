import { afterAll, afterEach, beforeAll, expect } from "vitest";
import type { Locator, Page } from "playwright-core";
import { AssistantAgent, dumpComponent, McpWorkbench, ReplayChatCompletionClient } from "troupe";
import type { TeamClient } from "troupe/client";
import { LoginBrowser } from "../../../test/components/mcp/support/login-browser.ts";
import { LoginServer } from "../../../test/components/mcp/support/login-server.ts";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { freePort } from "../../../test/support/ports.ts";
import { findings, testAppearances } from "../support/accessible.ts";
import { holdTimers } from "../support/held-timers.ts";
import { ConsoleStage } from "../support/stage.ts";

let stage: ConsoleStage;
let server: LoginServer;
beforeAll(async () => {
  if (!HAS_BROWSER) return;
  const port = await freePort();
  stage = await ConsoleStage.start({ PUBLIC_URL: `http://127.0.0.1:${port}` }, { port });
  server = await LoginServer.start();
});
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});
afterEach(async () => {
  const { connections } = await stage.client.connections.list();
  for (const { id } of connections) await stage.client.connections.delete(id);
});

/** A team with a tool of the server, which waits for a login. */
async function clerk(): Promise<TeamClient> {
  const call = {
    finish_reason: "function_calls" as const,
    content: [{ id: "c", name: "echo", arguments: '{"text":"hi"}' }],
    usage: { prompt_tokens: 1, completion_tokens: 1 },
    cached: false,
  };
  const agent = new AssistantAgent({
    name: "clerk",
    modelClient: new ReplayChatCompletionClient([call], {
      modelInfo: {
        vision: false,
        functionCalling: true,
        jsonOutput: false,
        structuredOutput: false,
        family: "unknown",
      },
    }),
    workbench: [new McpWorkbench({ serverParams: server.mcp.params })],
  });
  const team = await stage.client.teams.create({ component: dumpComponent(agent) });
  await team.start("Go.");
  await expect.poll(() => status(team)).toBe("waiting");
  return team;
}

async function status(team: TeamClient): Promise<string | undefined> {
  return (await team.runs()).runs[0]?.status;
}

function loginLink(within: Page | Locator): Locator {
  return within.getByRole("link", { name: /^Log in at / });
}

/** Opens a link with the keyboard, in a tab that has no access to the page, and logs in there. */
async function logIn(page: Page, link: Locator): Promise<void> {
  expect(await link.getAttribute("rel")).toContain("noopener");
  const [tab] = await Promise.all([page.context().waitForEvent("page"), link.press("Enter")]);
  await tab.getByRole("button", { name: "Continue" }).click();
  await tab.getByRole("heading", { name: "Connected to" }).waitFor();
  expect(await tab.evaluate("window.opener")).toBeNull();
  await tab.close();
}

testInBrowser("a server is connected, logged in to again, and deleted", async () => {
  const { page, complaints } = await stage.open("/connections");
  const entry = page.getByRole("list", { name: "Connections" }).locator(".item");
  const press = (name: string) => page.getByRole("button", { name, exact: true }).press("Enter");
  await page.getByText("No connections yet").waitFor();
  await press("New connection");
  await page.getByLabel("URL of the MCP server").fill(server.mcp.url);
  await page.getByLabel("Scopes").fill("tools more");
  await press("Connect");
  const dialog = page.getByRole("dialog", { name: "Log in" });
  const address = dialog.getByLabel("Login link");
  expect(await address.inputValue()).toMatch(/\/v1\/connections\/login\?ticket=/);
  await entry.getByText("Login required").waitFor();
  expect(
    await loginLink(dialog).evaluate((link) => link === link.ownerDocument.activeElement),
  ).toBe(true);
  await logIn(page, loginLink(dialog));
  await dialog.waitFor({ state: "detached" });
  await entry.getByText("Connected", { exact: true }).waitFor();
  await expect.poll(() => entry.getByRole("list", { name: "Scopes" }).innerText()).toBe("tools");

  const before = (await stage.client.connections.list()).connections[0]?.connected_at;
  await press(`Log in again: ${server.mcp.url}`);
  await logIn(page, loginLink(dialog));
  await dialog.waitFor({ state: "detached" });
  const { connections } = await stage.client.connections.list();
  expect(connections[0]?.connected_at).not.toBe(before);

  await press(`Delete ${server.mcp.url}`);
  await page.getByRole("dialog", { name: /^Delete the connection/ }).waitFor();
  await press("Delete");
  await page.getByText("No connections yet").waitFor();
  expect(await stage.client.connections.list()).toMatchObject({ connections: [] });
  expect(complaints).toEqual([]);
});

testInBrowser("a login that was made elsewhere appears by itself", async () => {
  const { authorization_url } = await stage.client.connections.create({ server: server.mcp.url });
  const { page } = await stage.open("/connections");
  await page.getByText("Login required").waitFor();
  await (await new LoginBrowser().logIn(authorization_url)).text();
  await page.locator(".item").getByText("Connected", { exact: true }).waitFor();
});

testInBrowser("mistakes are shown in the form", async () => {
  const { page } = await stage.open("/connections");
  await page.getByRole("button", { name: "New connection" }).press("Enter");
  await page.getByLabel("URL of the MCP server").fill(server.mcp.url);
  await page.getByLabel(/^URL of the authorization server/).fill(server.issuer);
  await page.getByRole("button", { name: "Connect", exact: true }).press("Enter");
  await page.getByRole("alert").getByText("client_id").waitFor();
});

testInBrowser("a URL that is not of the web is not a link", async () => {
  const { page } = await stage.open("/connections");
  const begun = await stage.client.connections.create({ server: server.mcp.url });
  await page.route("**/v1/connections", (route) =>
    route.request().method() === "POST"
      ? route.fulfill({ status: 201, json: { ...begun, authorization_url: "javascript:alert(1)" } })
      : route.continue(),
  );
  await page.getByRole("button", { name: "New connection" }).first().press("Enter");
  await page.getByLabel("URL of the MCP server").fill(server.mcp.url);
  await page.getByRole("button", { name: "Connect", exact: true }).press("Enter");
  await page.getByRole("dialog", { name: "Log in" }).getByText("javascript:alert(1)").waitFor();
  expect(await page.getByRole("dialog").getByRole("link").count()).toBe(0);
});

testInBrowser(
  "a run's login is a link in the conversation and the inbox, until it is done",
  async () => {
    const team = await clerk();
    const { page, complaints } = await stage.open(`/teams/${team.id}`);
    const inbox = await stage.open("/inbox");
    await loginLink(page).waitFor();
    // Nothing asks for a text.
    await page.getByRole("textbox", { name: "Message the running team" }).waitFor();
    expect(await page.getByText(/POST|cancel|Open this address/).count()).toBe(0);
    const card = inbox.page.locator(".requests > li");
    await card.getByText("needs a login.").waitFor();
    expect(await card.getByRole("textbox").count()).toBe(0);
    const [request] = (await stage.client.requests.list()).requests;
    expect(await loginLink(card).getAttribute("href")).toBe(request?.url);
    expect(await loginLink(page).getAttribute("href")).toBe(request?.url);
    await inbox.page.keyboard.press("j");
    await inbox.page.keyboard.press("a");
    await logIn(inbox.page, inbox.page.locator(":focus"));
    await card.getByText("Logged in, or no longer needed.").waitFor();
    await loginLink(page).waitFor({ state: "detached" });
    await page.locator("article", { hasText: "hi" }).first().waitFor();
    await expect.poll(() => status(team)).toBe("completed");
    expect([...complaints, ...inbox.complaints]).toEqual([]);
  },
);

testInBrowser("a run continues without the login", async () => {
  const team = await clerk();
  const { page } = await stage.open("/inbox");
  await loginLink(page).waitFor();
  const letTimePass = await holdTimers(page);
  await page.getByRole("button", { name: "Continue without login" }).press("Enter");
  await page.getByText("Cancelled.", { exact: true }).waitFor();
  await letTimePass();
  await expect.poll(() => status(team)).toBe("failed");
});

testAppearances("axe finds nothing on connections and logins", async (context) => {
  const team = await clerk();
  const { page } = await stage.open("/inbox", context);
  const check = async (shown: Locator): Promise<void> => {
    await shown.first().waitFor();
    expect(await findings(page)).toEqual([]);
  };
  await check(loginLink(page));
  await page.goto(`${stage.origin}/teams/${team.id}`);
  await check(loginLink(page));
  await page.goto(`${stage.origin}/connections`);
  await check(page.locator(".item"));
  await page.getByRole("button", { name: "New connection" }).click();
  await check(page.getByLabel("Client ID"));
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /^Log in: / }).click();
  await check(loginLink(page));
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /^Delete / }).click();
  await check(page.getByRole("dialog"));
  await team.delete();
});
