import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Ended, jsonLines, RunningCommand, troupe } from "../support/command.ts";
import { TABLE_VERSIONS } from "#contract/table-versions.ts";
import { NEXT_VERSION } from "../../support/two-versions.ts";
import { FakeCloudflare, INVALID_BINDING, NO_DYNAMIC_WORKERS } from "./support/fake-cloudflare.ts";

const WITH_LOADER = expect.stringMatching(/\.wrangler-with-loader\.json$/) as unknown;

function deploy(
  { root: cwd, env }: FakeCloudflare,
  args: readonly string[] = [],
  more: Record<string, string> = {},
): Promise<Ended> {
  return troupe(["deploy", ...args], { cwd, env: { ...env, ...more } });
}

function keysOf({ root }: FakeCloudflare, name = "production"): Record<string, string> {
  const file = join(root, ".troupe", "deploy", `${name}.json`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  return JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
}

test("troupe deploy sets secrets, waits for a first run, and makes one key, which works", async () => {
  await using cloudflare = await FakeCloudflare.start();
  const first = await deploy(cloudflare, ["--json"]);
  expect(first.stderr).toBe("");
  expect(first.code).toBe(0);
  const [{ url, key, ...told }] = jsonLines(first.stdout) as [Record<string, unknown>];
  expect(told).toMatchObject({
    worker: "my-team",
    loader: "added",
    secrets: ["SECRETS_KEY", "OPERATOR_KEY_HASH"],
    ran: true,
  });
  const whoami = await fetch(`${String(url)}/v1/whoami`, {
    headers: { authorization: `Bearer ${String(key)}` },
  });
  expect(await whoami.json()).toMatchObject({ tenant: "main", name: "made by troupe deploy" });
  // The team of the check is gone, and nothing of a file with secrets is left.
  const teams = await fetch(`${String(url)}/v1/teams`, {
    headers: { authorization: `Bearer ${String(key)}` },
  });
  expect(await teams.json()).toMatchObject({ teams: [] });
  const place = cloudflare.calls.at(-1)?.args.at(-1) ?? "";
  expect(() => statSync(place)).toThrow("ENOENT");
  const keys = keysOf(cloudflare);

  // Again: the secrets stay, and no other key is made.
  const secrets = { ...cloudflare.secrets };
  const again = await deploy(cloudflare);
  expect(again).toMatchObject({ code: 0, stderr: "" });
  expect(again.stdout).not.toContain("shown this once");
  expect(cloudflare.secrets).toEqual(secrets);
  expect(cloudflare.calls.at(-1)).toMatchObject({
    args: ["deploy", "--config", WITH_LOADER],
    secrets: null,
  });
  expect(keysOf(cloudflare)).toEqual({ ...keys, url: cloudflare.worker?.origin });
});

test("troupe deploy sends model keys only if it may, to the environment that is named", async () => {
  await using cloudflare = await FakeCloudflare.start();
  cloudflare.configure('name = "my-team"\n[env.staging]\n');
  const model = { OPENAI_API_KEY: "sk-of-the-environment" };
  const without = await deploy(cloudflare, ["--env", "staging"], model);
  expect(without).toMatchObject({ code: 0, stderr: "" });
  expect(without.stdout).toContain("OPENAI_API_KEY was not sent.");
  expect(cloudflare.secrets).not.toHaveProperty("OPENAI_API_KEY");
  expect(cloudflare.calls.map(({ args }) => args.slice(0, 5))).toEqual([
    ["whoami", "--json"],
    ["secret", "list", "--format", "json", "--env"],
    ["deploy", "--env", "staging", "--config", WITH_LOADER],
  ]);
  expect(JSON.parse(cloudflare.calls.at(-1)?.config ?? "")).toEqual({
    name: "my-team",
    env: { staging: { worker_loaders: [{ binding: "LOADER" }] } },
  });
  expect(Object.keys(keysOf(cloudflare, "staging"))).toEqual([
    "secrets_key",
    "operator_key",
    "url",
    "first_key",
  ]);
  const { code } = await deploy(cloudflare, ["--env", "staging", "--yes"], model);
  expect(code).toBe(0);
  expect(cloudflare.secrets).toMatchObject(model);
});

test("troupe deploy asks in a terminal which account it takes and whether it sends a key", async () => {
  await using cloudflare = await FakeCloudflare.start();
  cloudflare.accounts = [
    { id: "a1", name: "Ours" },
    { id: "a2", name: "Another" },
  ];
  const command = new RunningCommand(["deploy"], {
    cwd: cloudflare.root,
    env: { ...cloudflare.env, OPENAI_API_KEY: "sk-typed" },
    terminal: true,
  });
  await command.until(/2 {2}Another {2}a2\nNumber: /);
  command.type("2\n");
  await command.until(/Send OPENAI_API_KEY to the Worker\? \(y\/n\) /);
  command.type("y\n");
  const { code, stdout } = await command.end();
  expect(stdout).toContain("Troupe is deployed: http://127.0.0.1:");
  expect(code).toBe(0);
  expect(cloudflare.calls.at(-1)?.account).toBe("a2");
  expect(cloudflare.secrets).toMatchObject({ OPENAI_API_KEY: "sk-typed" });
});

test("troupe deploy --dry-run changes nothing and needs no login", async () => {
  await using cloudflare = await FakeCloudflare.start();
  cloudflare.accounts = undefined;
  const tried = await deploy(cloudflare, ["--dry-run"]);
  expect(tried).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^The binding LOADER would be added, .*\nSecrets that would be set: SECRETS_KEY, OPERATOR_KEY_HASH\.\n$/,
    ),
  });
  expect(cloudflare.calls.at(-1)?.args).toEqual(["deploy", "--dry-run", "--config", WITH_LOADER]);
  expect(() => keysOf(cloudflare)).toThrow("ENOENT");
});

test.each([NO_DYNAMIC_WORKERS, INVALID_BINDING])(
  "troupe deploy deploys without dynamic Workers where Cloudflare refuses them with $code",
  async (refusal) => {
    await using cloudflare = await FakeCloudflare.start();
    cloudflare.loaderError = refusal;
    const { code, stdout, stderr } = await deploy(cloudflare);
    expect(code).toBe(0);
    expect(stderr).toContain("the Worker is deployed without it.");
    expect(stdout).toMatch(/which the account's plan does not have .*javascript-tools/);
    expect(stdout).toContain("Its agents run no code yet");
    const [tried, deployed] = cloudflare.calls.slice(-2);
    expect(tried?.args).toContain("--config");
    expect(deployed?.args).toEqual(["deploy", "--secrets-file", expect.any(String)]);
    expect(existsSync(join(cloudflare.root, ".wrangler-with-loader.json"))).toBe(false);
    const again = await deploy(cloudflare, ["--json"]);
    expect(jsonLines(again.stdout)).toMatchObject([{ loader: "refused", code: "off" }]);
  },
);

test("troupe deploy takes dynamic Workers as the configuration has them", async () => {
  await using cloudflare = await FakeCloudflare.start();
  cloudflare.loaderError = NO_DYNAMIC_WORKERS;
  cloudflare.configure('name = "my-team"\n[[worker_loaders]]\nbinding = "LOADER"\n');
  const refused = await deploy(cloudflare);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("you must switch to a paid plan");
  expect(cloudflare.calls.at(-1)?.args).toEqual(["deploy", "--secrets-file", expect.any(String)]);
  cloudflare.configure('name = "my-team"\n[vars]\nCODE = "service"\n');
  const tried = await deploy(cloudflare, ["--dry-run", "--json"]);
  expect(jsonLines(tried.stdout)).toMatchObject([{ loader: "unused" }]);
  expect(cloudflare.calls.at(-1)?.args).toEqual(["deploy", "--dry-run"]);
});

test("troupe deploy says before it deploys that a version before cannot read what it stores", async () => {
  await using cloudflare = await FakeCloudflare.start();
  let tables: string | undefined =
    `team=${TABLE_VERSIONS.team - 1}, memory=${TABLE_VERSIONS.memory}`;
  const server = createServer((_request, response) => {
    if (tables !== undefined) response.setHeader("troupe-tables", tables);
    response.end(JSON.stringify({ status: "ok", code: "off" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const changes = `team ${TABLE_VERSIONS.team - 1} to ${TABLE_VERSIONS.team}`;
  const tried = await deploy(cloudflare, ["--dry-run", "--json", "--url", url]);
  expect(tried.code).toBe(0);
  expect(tried.stderr).toContain(`This version changes stored tables (${changes})`);
  expect(jsonLines(tried.stdout)).toMatchObject([
    { tables: [{ object: "team", deployed: TABLE_VERSIONS.team - 1, here: TABLE_VERSIONS.team }] },
  ]);
  tables = undefined;
  const unknown = await deploy(cloudflare, ["--dry-run", "--url", url]);
  expect(unknown.stderr).toContain("does not say which tables the deployed version has");
  server.close();
});

test("troupe deploy puts an older version over newer tables only if the user agrees", async () => {
  await using cloudflare = await FakeCloudflare.start();
  cloudflare.build = NEXT_VERSION;
  expect(await deploy(cloudflare)).toMatchObject({ code: 0, stderr: "" });
  cloudflare.build = {};
  const deployments = (): number =>
    cloudflare.calls.filter(({ args }) => args[0] === "deploy").length;
  const refused = await deploy(cloudflare);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("The deployed version has newer tables than this one");
  expect(refused.stderr).toContain("Nothing was deployed");
  const { root: cwd, env } = cloudflare;
  const command = new RunningCommand(["deploy"], { cwd, env, terminal: true });
  await command.until(/Deploy\? \(y\/n\) /);
  command.type("n\n");
  expect((await command.end()).code).toBe(2);
  expect(deployments()).toBe(1);
  const agreed = await deploy(cloudflare, ["--yes"]);
  expect(agreed.stderr).toContain("newer tables");
  expect(agreed.stdout).toContain("No run was tried, because the stored data may be refused.");
  expect(agreed.code).toBe(0);
  expect(deployments()).toBe(2);
});

test("troupe deploy says why it cannot deploy", async () => {
  await using cloudflare = await FakeCloudflare.start();
  cloudflare.accounts = undefined;
  expect((await deploy(cloudflare)).stderr).toContain('Run "npx wrangler login"');
  cloudflare.accounts = [
    { id: "a1", name: "Ours" },
    { id: "a2", name: "Another" },
  ];
  const several = await deploy(cloudflare);
  expect(several.code).toBe(2);
  expect(several.stderr).toContain("CLOUDFLARE_ACCOUNT_ID");
  cloudflare.accounts = [{ id: "a1", name: "Ours" }];
  cloudflare.listFails = true;
  expect((await deploy(cloudflare)).stderr).toContain("so nothing was deployed: Authentication");
  expect(cloudflare.calls.some(({ args }) => args[0] === "deploy")).toBe(false);
  cloudflare.listFails = false;
  cloudflare.fails = true;
  expect((await deploy(cloudflare)).stderr).toContain("wrangler deploy did not succeed");
  const { stderr } = await troupe(["deploy"], { cwd: join(cloudflare.root, "bin") });
  expect(stderr).toContain("has no wrangler.toml");
});
