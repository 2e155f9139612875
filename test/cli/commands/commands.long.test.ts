import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TroupeClient } from "#client/index.ts";
import { freePort } from "../../support/ports.ts";
import { TestWorker } from "../../support/worker.ts";
import { jsonLines, RunningCommand, troupe } from "../support/command.ts";
import { HUMAN, speaker } from "../support/teams.ts";

let worker: TestWorker;
let url: string;
let client: TroupeClient;
let directory: string;

beforeAll(async () => {
  worker = await TestWorker.start();
  url = await worker.origin;
  client = new TroupeClient({ baseURL: url });
  directory = mkdtempSync(join(tmpdir(), "troupe-cli-"));
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

/** A file with component JSON. */
function file(name: string, component: object): string {
  const path = join(directory, name);
  writeFileSync(path, JSON.stringify(component));
  return path;
}

describe("troupe import", () => {
  test("creates a team and prints its id", async () => {
    const path = file("human.json", HUMAN);
    const created = await troupe(["import", path, "--id", "imported", "--label", "One"], { url });
    expect(created).toMatchObject({ code: 0, stdout: "imported\n" });
    expect(await client.team("imported").get()).toMatchObject({ label: "One" });
    const again = await troupe(["import", path, "--id", "imported", "--json"], { url });
    expect(again.code).toBe(1);
    expect(jsonLines(again.stderr)).toMatchObject([{ error: { code: "team_exists" } }]);
  });

  test("names components that cannot be loaded, with their place in the file", async () => {
    const path = file("broken.json", { provider: "AssistantAgent", config: { name: 7 } });
    const { code, stderr } = await troupe(["import", path], { url });
    expect(code).toBe(1);
    expect(stderr).toContain("broken.json does not load.\n");
    expect(stderr).toContain("  config.name: ");
    expect(stderr).toContain("  config.model_client: ");
  });

  test.for([
    ["{", /is not JSON: /],
    ["[]", /must contain a JSON object/],
  ] as const)("refuses %j", async ([input, message]) => {
    const { code, stderr } = await troupe(["import", "-"], { url, input });
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});

describe("troupe logs", () => {
  test("shows all runs and ends", async () => {
    await client.teams.create({ id: "logged", component: speaker(["First.", "Second."]) });
    await client.team("logged").run("One").result();
    await client.team("logged").run("Two").result();
    const { code, stdout } = await troupe(["logs", "logged"], { url });
    expect(code).toBe(0);
    const said = stdout.split("\n").filter((line) => !line.startsWith("("));
    expect(said.join("\n")).toBe("user: One\nspeaker: First.\nuser: Two\nspeaker: Second.\n");
  });

  test("continues with -f until Ctrl-C", async () => {
    await client.teams.create({ id: "followed", component: speaker(["First.", "Second."]) });
    await client.team("followed").run("One").result();
    const command = new RunningCommand(["logs", "followed", "-f", "--json"], { url });
    await command.until(/"content":"First\."/);
    await client.team("followed").run("Two").result();
    await command.until(/"content":"Second\."/);
    command.interrupt();
    expect(await command.end()).toMatchObject({ code: 130 });
  });
});

describe("the credentials of the command line", () => {
  const operator = "operator-key";
  let closed: TestWorker;
  let closedUrl: string;

  beforeAll(async () => {
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(operator));
    closed = await TestWorker.start({
      TROUPE_OPEN: "",
      OPERATOR_KEY_HASH: Buffer.from(digest).toString("hex"),
      SECRETS_KEY: btoa("k".repeat(32)),
    });
    closedUrl = await closed.origin;
  });

  afterAll(() => closed[Symbol.asyncDispose]());

  test("include a key that is created in a tenant, printed alone, used, listed and revoked", async () => {
    const asOperator = { url: closedUrl, env: { TROUPE_API_KEY: operator } };
    const create = ["keys", "create", "--name", "reader", "--scopes", "teams:read,keys:write"];
    const created = await troupe([...create, "--tenant", "acme"], asOperator);
    expect(created).toMatchObject({ code: 0, stdout: expect.stringMatching(/^trp_acme_\S+\n$/) });
    expect(created.stderr).toContain('"reader": teams:read, keys:write');
    const key = created.stdout.trim();

    const missing = await troupe(["run", "x", "y", "--key", key], { url: closedUrl });
    expect(missing.stderr).toContain('There is no team "x"');
    const refused = await troupe(["keys", "create", "--name", "x", "--key", key], {
      url: closedUrl,
    });
    const listed = await troupe(["keys", "list", "--json", "--key", key], { url: closedUrl });
    const keys = jsonLines(listed.stdout);
    expect(keys.map(({ name }) => name)).toContain("reader");
    expect(listed.stdout).not.toContain(key);
    expect(refused.code).toBe(0);
    const id = String(keys.find(({ name }) => name === "reader")?.["id"]);
    expect(await troupe(["keys", "revoke", id, "--tenant", "acme"], asOperator)).toMatchObject({
      code: 0,
    });
  });

  test("include the links of a team, which are listed and revoked", async () => {
    const create = ["keys", "create", "--name", "sharer", "--tenant", "acme"];
    const created = await troupe(create, { url: closedUrl, env: { TROUPE_API_KEY: operator } });
    const key = created.stdout.trim();
    const acme = new TroupeClient({ baseURL: closedUrl, token: key });
    const team = await acme.teams.create({ id: "shared", component: speaker(["Hi."]) });
    const { id, token } = await team.createToken({
      scopes: ["conversation:read"],
      expires_in: 600,
    });
    const own = { url: closedUrl, env: { TROUPE_API_KEY: key } };
    const list = ["keys", "list", "--team", "shared"];
    const listed = await troupe(list, own);
    expect(listed.stdout).toContain(`${id}  link  sharer  conversation:read  `);
    expect(listed.stdout).not.toContain(token);
    const revoke = ["keys", "revoke", id, "--team", "shared"];
    expect(await troupe(revoke, own)).toMatchObject({
      code: 0,
      stdout: `Token ${id} is revoked.\n`,
    });
    expect(await troupe([...list, "--json"], own)).toMatchObject({ code: 0, stdout: "" });
  });

  test("are requested by an error that explains how to give them", async () => {
    const { code, stderr } = await troupe(["logs", "x"], { url: closedUrl });
    expect(code).toBe(1);
    expect(stderr).toContain("Give a key with --key or TROUPE_API_KEY.");
  });

  test("cannot have a scope that does not exist", async () => {
    const args = ["keys", "create", "--name", "x", "--scopes", "teams:read,all"];
    const { code, stderr } = await troupe(args, { url: closedUrl });
    expect(code).toBe(2);
    expect(stderr).toContain("Unknown scopes: all.");
  });
});

describe("a server that cannot be reached", () => {
  test("ends every command with 6 and one sentence", async () => {
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    const ended = await troupe(["run", "demo", "Hello", "--url", nowhere]);
    expect(ended).toMatchObject({
      code: 6,
      stdout: "",
      stderr: `error: The server at ${nowhere} cannot be reached. Is it running? Start it with "npm start", or name another server with --url or TROUPE_URL.\n`,
    });
    const json = await troupe(["inbox", "--json"], { url: nowhere });
    expect(json.code).toBe(6);
    expect(jsonLines(json.stderr)).toMatchObject([{ error: { code: "unreachable" } }]);
  });

  test.for(["localhost:8787", "ftp://example.com", "nonsense"])(
    "is refused if its URL is %s",
    async (wrong) => {
      const { code, stderr } = await troupe(["inbox"], { url: wrong });
      expect(code).toBe(2);
      expect(stderr).toContain(`"${wrong}" is not the URL of a server`);
    },
  );
});
