import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import { TroupeClient } from "troupe/client";
import { openTab, startBrowser, testInBrowser } from "../support/browser.ts";
import { Terminal } from "../support/example.ts";
import { NpmStart, ROOT } from "../support/npm-start.ts";
import { snippet } from "../support/pages.ts";
import { freePort } from "../support/ports.ts";

// examples/approval-web-app as its readers have it, by the commands of its README, with Next's packages from the registry.

const EXAMPLE = "examples/approval-web-app";
const [serverCommand = ""] = snippet("Run it", "sh", 0, `${EXAMPLE}/README.md`).split("\n");
const commands = snippet("Run it", "sh", 1, `${EXAMPLE}/README.md`).trim().split("\n");

const PASSWORD = { authorization: `Basic ${btoa("clerk:secret")}` };

let directory: string;
let stack: AsyncDisposableStack;
let server: NpmStart;
let site: string;
let key: string;

beforeAll(async () => {
  const [pack, enter, ...install] = commands;
  const start = install.pop() ?? "";
  expect([pack, enter]).toEqual(["npm pack", `cd ${EXAMPLE}`]);
  directory = mkdtempSync(join(tmpdir(), "troupe-approval-"));
  const app = join(directory, "app");
  const filter = (path: string): boolean => !["node_modules", ".next"].includes(basename(path));
  cpSync(join(ROOT, EXAMPLE), app, { recursive: true, filter });
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: "1" };
  for (const line of install) {
    const command = line.replace(/\S+\.tgz/, inject("tarball"));
    await promisify(execFile)("sh", ["-c", command], { cwd: app, env });
  }

  stack = new AsyncDisposableStack();
  const [port, sitePort] = [await freePort(), await freePort()];
  site = `http://127.0.0.1:${sitePort}`;
  expect(serverCommand).toBe("ALLOWED_ORIGINS=http://127.0.0.1:3000 npm start -- --auth");
  const persistTo = join(directory, "state");
  const settings = { ALLOWED_ORIGINS: site };
  const args = ["--auth"];
  server = stack.use(await NpmStart.ready({ port, persistTo, settings, args, sandbox: true }));
  key = readFileSync(join(persistTo, "api-key"), "utf8").trim();
  const filled = start.replace(/\S+api-key/, join(persistTo, "api-key"));
  const more = { TROUPE_URL: server.url, PORT: String(sitePort), NEXT_TELEMETRY_DISABLED: "1" };
  await stack.use(new Terminal(filled, app, more)).until(/Ready in/);
}, 900_000);

afterAll(async () => {
  await stack.disposeAsync();
  rmSync(directory, { recursive: true, force: true });
});

async function tokenFrom(path: string, headers: Record<string, string>): Promise<string> {
  const response = await fetch(site + path, { method: "POST", headers });
  expect(response.status).toBe(200);
  return ((await response.json()) as { token: string }).token;
}

test("a customer's token reads the own conversation only, and a clerk's approves its call", async () => {
  const shop = new TroupeClient({ baseURL: server.url, token: key });
  const team = await shop.teams.create({ template: "approval_desk" });
  const { id } = await team.start("The lamp of order A7 arrived broken.");
  const waiting = async (): Promise<RunInfo> => team.getRun(id);
  await expect.poll(waiting).toMatchObject({ status: "waiting", requests: [{ kind: "approval" }] });
  const [request] = (await waiting()).requests;

  expect((await fetch(`${site}/api/token`, { method: "POST" })).status).toBe(401);
  expect((await fetch(`${site}/clerk`)).status).toBe(401);
  const clerkPath = `/api/clerk/token?team=${team.id}`;
  expect((await fetch(site + clerkPath, { method: "POST" })).status).toBe(401);

  const answer = (token: string): Promise<RunInfo> =>
    new TroupeClient({ baseURL: server.url, token })
      .team(team.id)
      .answer(id, request?.id ?? "", { approved: true });
  const customer = await tokenFrom("/api/token", { cookie: `conversation=${team.id}` });
  await expect(answer(customer)).rejects.toMatchObject({ status: 403 });
  await answer(await tokenFrom(clerkPath, PASSWORD));
  await expect.poll(waiting).toMatchObject({ status: "completed" });
});

testInBrowser(
  "a customer asks for a refund, a clerk approves it, and the customer sees it",
  async () => {
    const browser = await startBrowser();
    try {
      const customer = await openTab(browser);
      const sent: string[] = [];
      customer.on("request", (request) => sent.push(JSON.stringify(request.headers())));
      await customer.goto(site);
      await customer.getByLabel("What happened?").fill("The lamp of order A7 arrived broken.");
      await customer.getByRole("button", { name: "Send" }).click();
      await customer.getByText("A colleague looks at it.").waitFor();

      const httpCredentials = { username: "clerk", password: "secret" };
      const clerk = await openTab(browser, { httpCredentials });
      await clerk.goto(`${site}/clerk`);
      await clerk.getByText('"order": "A7"').waitFor();
      await clerk.getByRole("button", { name: "Approve" }).click();

      await customer.getByText("The order is settled as you decided").waitFor();
      await customer.reload();
      await customer.getByText("The order is settled as you decided").waitFor();
      expect(sent.some((headers) => headers.includes("Bearer "))).toBe(true);
      expect(sent.filter((headers) => headers.includes(key))).toEqual([]);
    } finally {
      await browser.close();
    }
  },
);
