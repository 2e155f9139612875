import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Sandbox } from "../support/sandbox.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await Sandbox.start();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

describe("blocks", () => {
  test("run in their order, share files, and end at the first failure", async () => {
    const response = await sandbox.execute("order", [
      ["python", "open('n.txt', 'w').write('7'); print('written')"],
      ["sh", "cat n.txt; echo oops >&2; exit 3"],
      ["sh", "echo never"],
    ]);
    expect(await response.json()).toEqual({
      exit_code: 3,
      output: "written\n7oops\n",
      truncated: false,
      duration_ms: expect.any(Number) as number,
    });
  });
});
