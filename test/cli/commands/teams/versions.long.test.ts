import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TroupeClient } from "#client/index.ts";
import { TestWorker } from "../../../support/worker.ts";
import { jsonLines, troupe } from "../../support/command.ts";
import { HUMAN } from "../../support/teams.ts";

let worker: TestWorker;
let url: string;

beforeAll(async () => {
  worker = await TestWorker.start();
  url = await worker.origin;
  const client = new TroupeClient({ baseURL: url });
  const team = await client.teams.create({ id: "desk", component: HUMAN });
  await team.replaceComponent({ ...HUMAN, description: "Asks a human." });
});

afterAll(() => worker[Symbol.asyncDispose]());

async function versions(...args: string[]): ReturnType<typeof troupe> {
  return troupe(["versions", "desk", ...args], { url });
}

describe("troupe versions", () => {
  test("lists, labels and restores the versions of a team", async () => {
    const list = await versions();
    expect(list).toMatchObject({ code: 0, stderr: "" });
    expect(list.stdout).toMatch(/^\* 2 {2}\S+Z {2}local {2}-\n {2}1 {2}\S+Z {2}local {2}-\n$/);
    const label = await versions("label", "1", "stable", "--note", "Before the description.");
    expect(label.stdout).toMatch(
      /^ {2}1 {2}\S+Z {2}local {2}stable {2}Before the description\.\n$/,
    );
    const restored = await versions("restore", "1");
    expect(restored.stdout).toBe("Team desk has the component of version 1 again, as version 3.\n");
    expect(jsonLines((await versions("list", "--json")).stdout)).toMatchObject([
      { component_version: 3, note: "Version 1 restored.", current: true },
      { component_version: 2, label: null },
      { component_version: 1, label: "stable" },
    ]);
    await versions("label", "1", "");
    expect(jsonLines((await versions("--json")).stdout)).toMatchObject([{}, {}, { label: null }]);
  });

  test("shows a version and what differs in another one", async () => {
    const shown = await versions("show", "2");
    expect(JSON.parse(shown.stdout)).toMatchObject({ description: "Asks a human." });
    const { stdout } = await versions("diff", "1", "2");
    expect(stdout).toMatch(/^--- version 1\n\+\+\+ version 2\n@@ /);
    expect(stdout).toMatch(/^\+ {2}"description": "Asks a human\.",?$/m);
    const same = await versions("diff", "2", "2");
    expect(same.stdout).toBe("The two versions have the same component.\n");
  });

  test.for([
    [["forget"], "Allowed choices are list, show, diff, label, restore."],
    [["diff", "1"], '"diff" is used as: troupe versions TEAM diff VERSION VERSION'],
    [["show", "latest"], '"latest" is not the number of a version'],
    [["show", "1", "--note", "no"], '--note belongs to "label".'],
  ] as const)("explains what is wrong with %j", async ([args, message]) => {
    const { code, stderr } = await versions(...args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  test("names a version that does not exist", async () => {
    const { code, stderr } = await versions("restore", "9");
    expect(code).toBe(1);
    expect(stderr).toContain("The team has no such version.");
  });
});
