import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { NpmStart, ROOT } from "../support/npm-start.ts";
import { freePort } from "../support/ports.ts";

let directory: string;
let persistTo: string;
let port: number;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "troupe-refusals-"));
  persistTo = join(directory, "state");
  port = await freePort();
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Writes a configuration of wrangler. @returns its path */
function project(worker: string, vars = ""): string {
  const file = join(directory, "wrangler.toml");
  const objects = [
    ["TEAM", "TeamObject"],
    ["TENANT", "TenantObject"],
  ].map(
    ([name, type]) => `[[durable_objects.bindings]]\nname = "${name}"\nclass_name = "${type}"\n`,
  );
  writeFileSync(
    file,
    `name = "own"
main = "${join(ROOT, worker)}"
compatibility_date = "2026-09-18"
${objects.join("\n")}
[[migrations]]
tag = "v1"
new_sqlite_classes = ["TeamObject", "TenantObject"]
${vars}`,
  );
  return file;
}

test("a wrong setting stops npm start at once, and is named", async () => {
  const settings = { MAX_PARTICIPANTS: "many" };
  const server = new NpmStart({ port, persistTo, settings });
  expect(await server.exit()).toBe(1);
  expect(server.output).toContain(
    'A setting of this server is invalid: MAX_PARTICIPANTS is "many": it must be a positive whole number.',
  );
});

test("a wrong setting of wrangler.toml stops it with the text that requests get", async () => {
  const config = project("src/service/worker.ts", '[vars]\nMODEL_PRICES = "cheap"\n');
  const server = new NpmStart({ port, persistTo, args: ["--config", config] });
  expect(await server.exit()).toBe(1);
  expect(server.output).toContain("A setting of this server is invalid: MODEL_PRICES");
});

test("a state that cannot be written stops it", async () => {
  writeFileSync(join(directory, "file"), "");
  const server = new NpmStart({ port, persistTo: join(directory, "file/state") });
  expect(await server.exit()).toBe(1);
  expect(server.output).toContain(`The state cannot be stored in ${directory}/file/state (ENOTDIR`);
  expect(server.output).toContain("Set PERSIST_TO to another directory.");
});

test.runIf(process.platform === "linux")(
  "a state in a file system without room for directories stops it",
  async () => {
    const server = new NpmStart({ port, persistTo: "/proc/troupe/state" });
    expect(await server.exit()).toBe(1);
    expect(server.output).toContain("The state cannot be stored in /proc/troupe/state (ENOENT");
  },
);

test("a Worker that has the API below a path of its own is ready when it answers", async () => {
  const config = project("test/e2e/worker/mounted.ts");
  await using server = await NpmStart.ready({ port, persistTo, args: ["--config", config] });
  expect(server.output).toContain(`the API is at ${server.url}/agents/v1/openapi.json`);
  expect((await fetch(`${server.url}/agents/v1/openapi.json`)).status).toBe(200);
  expect((await fetch(`${server.url}/agents/healthz`)).status).toBe(200);
  expect(await (await fetch(server.url)).text()).toBe("home");
  const headers = { cookie: "user=ada" };
  const teams = await fetch(`${server.url}/agents/v1/teams`, { headers });
  expect(await teams.json()).toMatchObject({ teams: [] });
});
