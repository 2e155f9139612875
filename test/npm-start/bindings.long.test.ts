import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import { toText } from "#core/messages/views.ts";
import { jsonInit } from "../support/http-app.ts";
import { NpmStart, ROOT } from "../support/npm-start.ts";
import { freePort } from "../support/ports.ts";

const CONFIG = "examples/kv-and-d1/wrangler.toml";

let persistTo: string;

beforeAll(() => {
  persistTo = mkdtempSync(join(tmpdir(), "troupe-bindings-"));
});

afterAll(() => rmSync(persistTo, { recursive: true, force: true }));

async function wrangler(...args: string[]): Promise<string> {
  const place = ["--local", "--config", CONFIG, "--persist-to", persistTo];
  const { stdout } = await promisify(execFile)(
    `${ROOT}/node_modules/.bin/wrangler`,
    [...args, ...place],
    { cwd: ROOT, env: { ...process.env, CI: "1" } },
  );
  return stdout;
}

test("tools read and write D1, and an agent reads KV, through the bindings of their Worker", async () => {
  await wrangler("d1", "migrations", "apply", "shop");
  await wrangler("kv", "key", "put", "greeting", "Welcome!", "--binding", "HOUSE");
  const options = { port: await freePort(), persistTo, args: ["--config", CONFIG] };
  {
    await using server = await NpmStart.ready(options);
    const team = jsonInit({ template: "shop", id: "shop" });
    expect((await fetch(`${server.url}/v1/teams`, team)).status).toBe(201);
    const run = jsonInit({ task: "A teapot, please." });
    const response = await fetch(`${server.url}/v1/teams/shop/runs?wait=60`, run);
    const { error, result } = (await response.json()) as RunInfo;
    expect(error).toBeNull();
    const said = result?.messages.map((message) => `${message.source}: ${toText(message)}`) ?? [];
    expect(said).toEqual([
      "user: A teapot, please.",
      "door: Welcome!",
      expect.stringMatching(/^clerk: .*in_stock/),
      expect.stringMatching(/^clerk: .*content='3'/),
      expect.stringMatching(/^clerk: .*order/),
      expect.stringMatching(/^clerk: .*Ordered: teapot\./),
      "clerk: There are some; one is yours.",
    ]);
  }
  const orders = await wrangler(
    "d1",
    "execute",
    "shop",
    "--command",
    "SELECT * FROM orders",
    "--json",
  );
  expect(JSON.parse(orders)).toMatchObject([{ results: [{ item: "teapot" }] }]);
});
