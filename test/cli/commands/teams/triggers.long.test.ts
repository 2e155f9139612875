import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TroupeClient } from "#client/index.ts";
import { SAMPLE_COMPONENT } from "../../../support/sample-component.ts";
import { TestWorker } from "../../../support/worker.ts";
import { type Ended, jsonLines, troupe } from "../../support/command.ts";

const folder = mkdtempSync(join(tmpdir(), "troupe-triggers-"));
const secretFile = join(folder, "secret");

let worker: TestWorker;
let url: string;

beforeAll(async () => {
  writeFileSync(secretFile, "whsec_of_stripe\n");
  worker = await TestWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
  url = await worker.origin;
  const { teams } = new TroupeClient({ baseURL: url });
  await teams.create({ id: "desk", component: SAMPLE_COMPONENT });
});

afterAll(async () => {
  rmSync(folder, { recursive: true });
  await worker[Symbol.asyncDispose]();
});

function triggers(...args: string[]): Promise<Ended> {
  return troupe(["triggers", "desk", ...args], { url });
}

function send(id: string, secret: string, body: object): Promise<Response> {
  return worker.fetch(`/in/local/desk/${id}`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

describe("troupe triggers", () => {
  test("creates, lists, shows, rotates and deletes triggers, and lists what came in", async () => {
    expect((await triggers()).stdout).toBe("");
    const put = ["put", "orders", "--kind", "plain", "--task", "Check the order {{ order }}."];
    const filter = '[{"argument":"total","above":50}]';
    const { stdout } = await triggers(...put, "--filter", filter);
    const [address, secret = ""] = stdout.split(/\nSecret: |\n/);
    expect(stdout).toBe(`${address}\nSecret: ${secret}\nIt is not shown again.\n`);
    expect(address).toMatch(/^http:\/\/\S+\/in\/local\/desk\/orders$/);
    expect((await triggers(...put, "--filter", filter)).stdout).toBe(`${address}\n`);
    expect((await triggers("list")).stdout).toBe(`orders  plain  ${address}\n`);
    expect(JSON.parse((await triggers("show", "orders")).stdout)).toMatchObject({
      id: "orders",
      filter: { when: [{ argument: "total", above: 50 }] },
    });
    expect((await send("orders", secret, { order: 1, total: 10 })).status).toBe(200);
    const started = await send("orders", secret, { order: 2, total: 90 });
    const { run } = (await started.json()) as { run: string };
    const lines = (await triggers("deliveries", "orders")).stdout.split("\n");
    expect(lines.map((line) => line.split("  ").slice(1, 3))).toEqual([
      ["ran", run],
      ["filtered", "-"],
      [],
    ]);
    const rotated = (await triggers("rotate", "orders")).stdout;
    expect(rotated).toMatch(/^Secret: \S+\n.*\nThe secret before ends at \S+Z\.\n$/);
    expect((await triggers("rotate", "orders", "--revoke")).stdout).toContain(
      "The secret before has ended.",
    );
    expect((await triggers("delete", "orders")).stdout).toBe("Deleted orders.\n");
    expect((await triggers()).stdout).toBe("");
  });

  test("takes the secret that Stripe has issued from a file, and shows it nowhere", async () => {
    const put = ["put", "paid", "--kind", "stripe", "--task", "Thank {{ data.object.name }}."];
    expect((await triggers(...put)).stderr).toContain("secret");
    const created = await triggers(...put, "--secret-file", secretFile, "--json");
    expect(jsonLines(created.stdout)).toMatchObject([{ id: "paid", kind: "stripe" }]);
    expect(created.stdout).not.toContain("whsec_of_stripe");
    const rotated = await triggers("rotate", "paid", "--secret-file", secretFile);
    expect(rotated.stdout).toMatch(/^The secret before ends at/);
  });

  test.for([
    [["forget", "x"], "Allowed choices are list, put, show, deliveries, rotate, delete."],
    [["put"], '"put" needs the id of a trigger.'],
    [["put", "x"], '"put" needs --kind and --task.'],
    [["put", "x", "--kind", "gitlab", "--task", "Go."], "Allowed choices are github,"],
    [["put", "x", "--kind", "plain", "--task", "{{ a"], "task"],
    [["put", "x", "--kind", "plain", "--task", "Go.", "--filter", "{"], "--filter is not JSON"],
    [["rotate", "x", "--secret-file", "/nowhere"], 'The file "/nowhere" cannot be read.'],
    [["show", "unknown"], "trigger"],
  ] as const)("explains what is wrong with %j", async ([args, message]) => {
    const { code, stderr } = await triggers(...args);
    expect(code).not.toBe(0);
    expect(stderr).toContain(message);
  });
});
