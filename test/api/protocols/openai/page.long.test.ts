import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { file, Workplace } from "../../../support/pages.ts";
import { TestWorker } from "../../../support/worker.ts";

const place = new Workplace();
let worker: TestWorker;

beforeAll(async () => {
  worker = await TestWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
});

afterAll(async () => {
  place[Symbol.dispose]();
  await worker[Symbol.asyncDispose]();
});

test("the program of docs/openai.md writes the messages of the team", async () => {
  const program = place.write("openai.ts", file("openai.ts"));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program], {
    env: { ...process.env, TROUPE_URL: await worker.origin },
  });
  expect(stderr).toBe("");
  const texts = stdout.trim().split("\n");
  expect(texts.filter((text) => text !== "").length).toBeGreaterThanOrEqual(3);
});
