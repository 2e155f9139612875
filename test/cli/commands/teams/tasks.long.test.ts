import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TroupeClient } from "#client/index.ts";
import { TestWorker } from "../../../support/worker.ts";
import { jsonLines, troupe } from "../../support/command.ts";

let worker: TestWorker;
let url: string;

beforeAll(async () => {
  worker = await TestWorker.start();
  url = await worker.origin;
  await new TroupeClient({ baseURL: url }).teams.create({ id: "desk", template: "taskforce" });
});

afterAll(() => worker[Symbol.asyncDispose]());

async function tasks(...args: string[]): ReturnType<typeof troupe> {
  return troupe(["tasks", "desk", ...args], { url });
}

describe("troupe tasks", () => {
  test("adds, changes, moves, ends and deletes tasks of a team's board", async () => {
    expect((await tasks()).stdout).toBe("The board is empty.\n");
    const added = await tasks("add", "Buy food", "--note", "For four.");
    expect(added.stdout).toBe("p1  open  -  Buy food  For four.\n");
    expect((await tasks("add", "Cook", "--depends-on", "p1")).stdout).toBe(
      "p2  open  -  Cook  after p1\n",
    );
    await tasks("change", "p2", "--position", "0", "--owner", "ann");
    await tasks("done", "p1");
    expect((await tasks()).stdout).toBe(
      "p2  open  ann  Cook  after p1\np1  done  -  Buy food  For four.\n",
    );
    await tasks("drop", "p1");
    await tasks("reopen", "p2");
    expect(jsonLines((await tasks("--json")).stdout)).toMatchObject([
      { id: "p2", state: "open", owner: null, position: 0 },
      { id: "p1", state: "dropped", position: 1 },
    ]);
    await tasks("remove", "p1");
    expect((await tasks()).stdout).toBe("p2  open  -  Cook\n");
  });

  test.for([
    [["forget"], "Allowed choices are list, add, change, done, drop, reopen, remove."],
    [["add"], '"add" is used as: troupe tasks TEAM add TITLE'],
    [["list", "p1"], '"list" is used as: troupe tasks TEAM list'],
    [["change", "p1", "--position", "first"], '--position is a whole number from 0, not "first".'],
    [["done", "p9"], "The team has no such task."],
  ] as const)("explains what is wrong with %j", async ([args, message]) => {
    const { code, stderr } = await tasks(...args);
    expect(code).not.toBe(0);
    expect(stderr).toContain(message);
  });
});
