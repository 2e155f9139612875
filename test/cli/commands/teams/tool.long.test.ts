import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TroupeClient } from "#client/index.ts";
import { SAMPLE_COMPONENT } from "../../../support/sample-component.ts";
import { TestWorker } from "../../../support/worker.ts";
import { troupe } from "../../support/command.ts";

const TOOL = {
  name: "check_invoice",
  description: "Checks an invoice.",
  input_schema: { type: "object", properties: { number: { type: "string" } } },
  task: "Check the invoice {{ number }}.",
};

const directory = mkdtempSync(join(tmpdir(), "troupe-tool-"));

let worker: TestWorker;
let url: string;

beforeAll(async () => {
  worker = await TestWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
  url = await worker.origin;
  const client = new TroupeClient({ baseURL: url });
  await client.teams.create({ id: "billing", component: SAMPLE_COMPONENT });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

function fileOf(text: string): string {
  const path = join(directory, "tool.json");
  writeFileSync(path, text);
  return path;
}

const tool = (...args: string[]): ReturnType<typeof troupe> =>
  troupe(["tool", "billing", ...args], { url });

describe("troupe tool", () => {
  test("sets the tool from a file, shows it, takes its own output back, and deletes it", async () => {
    expect(await tool()).toMatchObject({ code: 1, stderr: expect.stringContaining("no tool") });
    const set = await tool("set", fileOf(JSON.stringify(TOOL)));
    expect(set.stdout).toContain("check_invoice  Checks an invoice.\n");
    const shown = (await tool("show", "--json")).stdout;
    expect(JSON.parse(shown)).toMatchObject({ ...TOOL, output_schema: null });
    expect(await tool("set", fileOf(shown))).toMatchObject({ code: 0 });
    expect((await tool("delete")).stdout).toBe(
      "The team billing has no tool of its own any more.\n",
    );
    expect(await tool("show")).toMatchObject({ code: 1 });
  });

  test("explains what is wrong", async () => {
    expect(await tool("set")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("troupe tool TEAM set FILE"),
    });
    expect((await tool("set", join(directory, "none.json"))).stderr).toContain("cannot be read");
    expect((await tool("set", fileOf("{"))).stderr).toContain("is not the JSON of a tool");
    const taken = await tool("set", fileOf(JSON.stringify({ ...TOOL, name: "run_desk" })));
    expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining("Troupe's own tools") });
  });
});
