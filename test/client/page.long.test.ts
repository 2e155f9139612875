import { execFile, type PromiseWithChild } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TroupeClient } from "troupe/client";
import { type FakeOpenAI, startFakeOpenAI } from "../support/fake-openai/server.ts";
import { file, Workplace } from "../support/pages.ts";
import { TestWorker } from "../support/worker.ts";
import { BadProxy } from "./support/proxy.ts";
import { SENTENCE, speaker } from "./support/speaker.ts";

const place = new Workplace();
let fake: FakeOpenAI;
let worker: TestWorker;

beforeAll(async () => {
  fake = await startFakeOpenAI({
    rules: [{ name: "speak", pace_ms: 5, reply: { content: SENTENCE } }],
  });
  worker = await TestWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
});

afterAll(async () => {
  place[Symbol.dispose]();
  await worker[Symbol.asyncDispose]();
  await fake.close();
});

/** Runs a program of docs/client.md. @returns what it writes to its outputs */
function execute(
  name: string,
  origin: string,
  ...args: string[]
): PromiseWithChild<{ stdout: string; stderr: string }> {
  return promisify(execFile)(process.execPath, [place.write(name, file(name)), ...args], {
    env: { ...process.env, TROUPE_URL: origin },
  });
}

test("the first program writes the messages of the agents", async () => {
  const { stdout, stderr } = await execute("story.ts", await worker.origin);
  expect(stderr).toBe("");
  expect(stdout).toMatch(/\[user\] TextMessage\n[\s\S]*\[writer\] TextMessage/);
});

test.each(["reconnect.mjs", "reconnect-with-client.mjs"])(
  "%s shows a run completely, each message once, over connections that break",
  async (name) => {
    const baseURL = await worker.origin;
    const team = await new TroupeClient({ baseURL }).teams.create({ component: speaker(fake.url) });
    fake.rules.hold("speak");
    const { id } = await team.start("Speak.");
    await using proxy = await BadProxy.start(baseURL, { cutAfter: 1500, loses: 1 });
    const program = execute(name, proxy.origin, team.id, id);
    program.child.stdout?.once("data", () => fake.release("speak"));
    const { stdout, stderr } = await program;
    expect(stdout).toBe(`user: Speak.\nspeaker: ${SENTENCE}\n`);
    const texts = stderr.split("\n").filter((line) => line !== "");
    expect(texts.length).toBeGreaterThan(0);
    expect(texts.filter((text) => !SENTENCE.startsWith(text))).toEqual([]);
    expect(proxy.requests).toBeGreaterThan(2);
  },
);
