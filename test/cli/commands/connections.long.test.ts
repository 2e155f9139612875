import { expect, test } from "vitest";
import { LoginBrowser } from "../../components/mcp/support/login-browser.ts";
import { LoginServer } from "../../components/mcp/support/login-server.ts";
import { TestWorker } from "../../support/worker.ts";
import { jsonLines, troupe } from "../support/command.ts";

const SETTINGS = { SECRETS_KEY: btoa("k".repeat(32)) };

test("a connection is added, logged in to, listed and deleted", async () => {
  await using worker = await TestWorker.start(SETTINGS);
  await using login = await LoginServer.start();
  const url = await worker.origin;
  const { mcp } = login;

  const added = await troupe(["connections", "add", mcp.url, "--scope", "tools more"], { url });
  expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining("It works once") });
  const page = added.stdout.trim();
  expect(new URL(page).origin).toBe(url);
  const browser = new LoginBrowser();
  expect((await browser.continue(page)).searchParams.get("scope")).toBe("tools more");
  const before = await troupe(["connections", "list"], { url });
  expect(before.stdout).toMatch(new RegExp(`^\\S+  ${mcp.url}  login_needed\n$`));

  expect(await (await browser.logIn(page)).text()).toContain("Connected to");
  const listed = await troupe(["connections", "list", "--json"], { url });
  const [connection, ...others] = jsonLines(listed.stdout);
  expect(connection).toMatchObject({ server: mcp.url, status: "connected", scope: "tools" });
  expect(others).toEqual([]);

  await troupe(["connections", "add", mcp.url, "--user", "ann"], { url });
  const all = await troupe(["connections", "list"], { url });
  expect(all.stdout).toMatch(new RegExp(`  ${mcp.url}  login_needed  user ann\n$`));
  const [, ofAnn = ""] = /(\S+)  \S+  login_needed/.exec(all.stdout) ?? [];
  expect((await troupe(["connections", "delete", ofAnn], { url })).code).toBe(0);

  const id = String(connection?.["id"]);
  const deleted = await troupe(["connections", "delete", id], { url });
  expect(deleted).toMatchObject({ code: 0, stdout: `Connection ${id} is deleted.\n` });
  expect((await troupe(["connections", "list"], { url })).stdout).toBe("");
  const again = await troupe(["connections", "delete", id, "--json"], { url });
  expect(again.code).toBe(1);
});

test("a client of one's own is used, and its secret needs the issuer", async () => {
  await using worker = await TestWorker.start(SETTINGS);
  await using login = await LoginServer.start();
  const url = await worker.origin;
  const own = ["--client-id", "mine", "--client-secret", "s3cret"];
  const add = ["connections", "add", login.mcp.url, "--json", ...own];
  const refused = await troupe(add, { url });
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("issuer");
  const added = await troupe([...add, "--issuer", login.issuer], { url });
  const [started] = jsonLines(added.stdout);
  const page = String(started?.["authorization_url"]);
  expect((await new LoginBrowser().continue(page)).searchParams.get("client_id")).toBe("mine");
  expect(added.stdout).not.toContain("s3cret");
});
