import {
  cpSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { STORED_TABLES } from "#cli/backup/stored-tables.ts";
import { HeldModel } from "../../support/held-model.ts";
import { type Ended, jsonLines, RunningCommand, troupe } from "../support/command.ts";
import { BreakingProxy } from "./support/breaking-proxy.ts";
import { fillTenant, SECRETS_KEY, shownTenant, TenantServer } from "./support/tenant.ts";

const folder = mkdtempSync(join(tmpdir(), "troupe-backup-"));
const MODEL_KEY = "the-key-of-the-model";
const KEY = "team/keyed/versions/1/component.config.model_client.config.api_key";
/** The secrets that no server shows, by their places. */
const SECRETS: Readonly<Record<string, string>> = {
  "team/Talk/notify[0].url": "https://hooks.slack.com/services/T/B/secret",
  "team/Talk/notify[1].url": "https://hooks.example.com/notes",
  "team/Talk/triggers/paid.secret": "whsec_of_stripe",
  [KEY]: MODEL_KEY,
};
/** After how many requests the first crash comes, and how many more each further one leaves, so that each attempt gets further. */
const CRASHES = { backup: { first: 25, more: 6 }, restore: { first: 8, more: 4 } } as const;

let model: HeldModel;
let source: TenantServer;
let settings: Record<string, string>;
/** A complete backup whose secrets are filled in. */
const filled = join(folder, "filled");

beforeAll(async () => {
  model = await HeldModel.start();
  settings = { ALLOWED_EGRESS: `${model.origin}, hooks.slack.com, hooks.example.com` };
  source = await TenantServer.start(settings);
  await fillTenant(source, model.client({ api_key: MODEL_KEY }));
  const made = await run(source, "backup", filled);
  expect(made).toMatchObject({ code: 0, stderr: "" });
  fillSecrets(filled);
});

afterAll(async () => {
  await source[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

function run(server: TenantServer, ...args: string[]): Promise<Ended> {
  return troupe(args, { env: server.env });
}

function secretsOf(directory: string): Record<string, string | null> {
  const text = readFileSync(join(directory, "secrets.json"), "utf8");
  return JSON.parse(text) as Record<string, string | null>;
}

function fillSecrets(directory: string): void {
  const places = Object.keys(secretsOf(directory)).map((place) => [place, SECRETS[place] ?? null]);
  writeFileSync(join(directory, "secrets.json"), JSON.stringify(Object.fromEntries(places)));
}

/** A copy of the filled backup, in which no restore was begun. */
function copyOf(name: string): string {
  const copy = join(folder, name);
  cpSync(filled, copy, { recursive: true });
  rmSync(join(copy, "restores"), { recursive: true, force: true });
  return copy;
}

/** Runs a command again and again, which a crash ends after some requests, until it completes. */
async function crashing(
  { env }: TenantServer,
  proxy: BreakingProxy,
  name: keyof typeof CRASHES,
  directory: string,
): Promise<Ended & { crashes: number }> {
  for (let crashes = 0; ; crashes++) {
    const command = new RunningCommand([name, directory], {
      env: { ...env, TROUPE_URL: proxy.origin },
    });
    const { first, more } = CRASHES[name];
    proxy.breakAt(first + more * crashes, () => command.kill());
    const ended = await command.end();
    if (ended.code !== null) return { ...ended, crashes };
  }
}

/** The tables of all objects of a class, without those of SQLite itself and of its full-text index. */
function tablesIn(directory: string): string[] {
  const files = globSync(join(directory, "*.sqlite")).filter((file) => !file.includes("metadata"));
  const names = files.flatMap((file) => {
    const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
    const rows = database.prepare("select name from sqlite_master where type = 'table'").all();
    database.close();
    return rows.map(({ name }) => String(name));
  });
  const own = names.filter(
    (name) => !/^(sqlite_|_cf_|search_\d)|_(data|idx|docsize|config|content|terms)$/.test(name),
  );
  return [...new Set(own)].toSorted();
}

describe("troupe backup and troupe restore", () => {
  test("bring everything that a tenant shows to an empty server", async () => {
    await using target = await TenantServer.start(settings);
    const directory = copyOf("whole");
    const restored = await run(target, "restore", directory);
    expect(restored).toMatchObject({ code: 0, stderr: "" });
    expect(restored.stdout).toContain(
      'Make a key again: npx troupe keys create --name "my app" --scopes teams:read,runs:write',
    );
    expect(restored.stdout).toContain("Team Talk had 1 tokens or links: make them again.");
    expect(await shownTenant(target)).toEqual(await shownTenant(source));
    // The restored team has the key, too.
    const count = model.requests.length;
    const run_ = target.json("POST", "/v1/teams/keyed/runs?wait=60", { task: "And then?" });
    (await model.request(count + 1)).end("Rain.");
    expect(await run_).toMatchObject({ status: "completed" });
  });

  test("take what is committed of a team whose run is active, and the messages before a question", async () => {
    await using busy = await TenantServer.start(settings);
    await fillTenant(busy, model.client({ api_key: MODEL_KEY }));
    const count = model.requests.length;
    await busy.json("POST", "/v1/teams/waiting/runs", { task: "Go." });
    await busy.json("POST", "/v1/teams/keyed/runs", { task: "Write." });
    const request = await model.request(count + 1);
    request.begin("It was");
    const directory = join(folder, "busy");
    expect(await run(busy, "backup", directory)).toMatchObject({ code: 0, stderr: "" });
    request.end(" a dark night.");
    fillSecrets(directory);
    await using target = await TenantServer.start(settings);
    expect(await run(target, "restore", directory)).toMatchObject({ code: 0, stderr: "" });
    const shown = await shownTenant(target);
    expect(JSON.stringify(shown["/v1/teams/keyed/messages"])).not.toContain("dark night");
    expect(JSON.stringify(shown["/v1/teams/waiting/messages"])).toContain("Hello.");
    const next = target.json("POST", "/v1/teams/keyed/runs?wait=60", { task: "And then?" });
    (await model.request(count + 2)).end("Rain.");
    expect(await next).toMatchObject({ status: "completed" });
  });

  test("continue after each crash, and leave the same as without one", async () => {
    const directory = join(folder, "crashed");
    await using from = await BreakingProxy.start(() => source.worker.origin);
    const made = await crashing(source, from, "backup", directory);
    expect(made).toMatchObject({ code: 0, stderr: "" });
    expect(made.crashes).toBeGreaterThan(1);
    fillSecrets(directory);
    await using target = await TenantServer.start(settings);
    await using to = await BreakingProxy.start(() => target.worker.origin);
    const restored = await crashing(target, to, "restore", directory);
    expect(restored).toMatchObject({ code: 0, stderr: "" });
    expect(restored.crashes).toBeGreaterThan(1);
    expect(await shownTenant(target)).toEqual(await shownTenant(source));
    // A complete backup is not written again, and a complete restore starts again: everything exists already.
    expect((await run(source, "backup", directory)).stderr).toContain("has a complete backup");
    const again = await troupe(["restore", directory, "--json"], {
      env: { ...target.env, TROUPE_URL: to.origin },
    });
    expect(again.code).toBe(1);
    const { refused } = jsonLines(again.stdout).at(-1) as { refused: { status: number }[] };
    expect(refused.length).toBeGreaterThan(5);
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 409));
    expect(await shownTenant(target)).toEqual(await shownTenant(source));
  });

  test("refuse each id that is used with 409, unless it is overwritten", async () => {
    await using target = await TenantServer.start(settings);
    await target.json("POST", "/v1/teams", {
      id: "board",
      component: { provider: "UserProxyAgent", config: { name: "other" } },
    });
    await target.json("POST", "/v1/memories", { scope: "tenant", content: "Stays." });
    const directory = copyOf("used");
    const refused = await run(target, "restore", directory, "--json");
    expect(refused.code).toBe(1);
    const [{ error }] = jsonLines(refused.stderr) as [{ error: { issues: unknown } }];
    expect(error.issues).toEqual([
      { path: "memories tenant", message: "409: It exists already." },
      { path: "team board", message: "409: It exists already." },
    ]);
    expect(await target.json("GET", "/v1/teams/board")).toMatchObject({
      component: { config: { name: "other" } },
    });
    const overwritten = await run(target, "restore", directory, "--overwrite");
    expect(overwritten).toMatchObject({ code: 0, stderr: "" });
    expect(await shownTenant(target)).toEqual(await shownTenant(source));
  });

  test("know every table of the databases that the tenant has", () => {
    const unknown = Object.entries(STORED_TABLES).flatMap(([name, known]) => {
      const tables = tablesIn(join(source.worker.state, name));
      expect(tables.length, name).toBeGreaterThan(5);
      return tables.filter((table) => !Object.hasOwn(known, table)).map((table) => [name, table]);
    });
    expect(unknown).toEqual([]);
  });

  test("seal the secrets of components with the SECRETS_KEY of the server", async () => {
    const directory = join(folder, "sealed");
    const { key } = await source.json<{ key: string }>("POST", "/v1/keys", {
      name: "not the operator",
      scopes: ["teams:read"],
      expires_in: 3600,
    });
    const others = await troupe(["backup", directory, "--secrets-key", SECRETS_KEY], {
      env: { TROUPE_URL: source.worker.origin, TROUPE_API_KEY: key },
    });
    expect(others).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("needs the operator's key") as string,
    });
    const wrong = await run(source, "backup", directory, "--secrets-key", btoa("x".repeat(32)));
    expect(wrong.stderr).toContain("is not the SECRETS_KEY");
    const made = await run(source, "backup", directory, "--secrets-key", SECRETS_KEY);
    expect(made).toMatchObject({ code: 0, stderr: "" });
    expect(Object.keys(secretsOf(directory))).not.toContain(KEY);
    const files = readdirSync(directory, { recursive: true, withFileTypes: true });
    for (const file of files.filter((one) => one.isFile())) {
      const text = readFileSync(join(file.parentPath, file.name), "utf8");
      expect(text).not.toContain(MODEL_KEY);
    }
    fillSecrets(directory);
    await using target = await TenantServer.start({
      ...settings,
      SECRETS_KEY: btoa("another-key-of-thirty-two-bytes!"),
    });
    const restored = await run(target, "restore", directory, "--secrets-key", SECRETS_KEY);
    expect(restored).toMatchObject({ code: 0, stderr: "" });
    const count = model.requests.length;
    const next = target.json("POST", "/v1/teams/keyed/runs?wait=60", { task: "And then?" });
    (await model.request(count + 1)).end("Rain.");
    expect(await next).toMatchObject({ status: "completed" });
  });

  test("name what is missing and what is damaged before anything is stored", async () => {
    await using target = await TenantServer.start(settings);
    const directory = copyOf("damaged");
    writeFileSync(join(directory, "secrets.json"), JSON.stringify({ [KEY]: null }));
    const missing = await run(target, "restore", directory, "--json");
    expect(missing.code).toBe(2);
    expect(jsonLines(missing.stderr)).toMatchObject([
      { error: { code: "missing_secrets", issues: [{ path: KEY, message: "has no value" }] } },
    ]);
    writeFileSync(join(directory, "team", "board", "team.json"), "{}");
    const damaged = await run(target, "restore", directory);
    expect(damaged).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("is damaged") as string,
    });
    const { TROUPE_TENANT: _, ...env } = target.env;
    const tenantless = await troupe(["restore", directory], { env });
    expect(tenantless).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--tenant or TROUPE_TENANT") as string,
    });
    const nothing = await run(target, "restore", join(folder, "nothing"));
    expect(nothing.stderr).toContain("has no backup");
    expect(await target.json("GET", "/v1/teams")).toMatchObject({ teams: [] });
  });
});
