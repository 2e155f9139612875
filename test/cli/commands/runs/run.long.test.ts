import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TroupeClient } from "#client/index.ts";
import { speaker as pausing } from "../../../client/support/speaker.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../../support/fake-openai/server.ts";
import { TestWorker } from "../../../support/worker.ts";
import { jsonLines, RunningCommand, troupe } from "../../support/command.ts";
import { HUMAN, speaker } from "../../support/teams.ts";

const WORDS = "one two three four five six seven eight nine ten ".repeat(5).trim();

/** Says the words, and waits after some of them until the test releases it. */
let model: FakeOpenAI;
let worker: TestWorker;
let url: string;
let client: TroupeClient;
let directory: string;

beforeAll(async () => {
  model = await startFakeOpenAI({
    rules: [{ name: "speak", hold: true, hold_after: [15], reply: { content: WORDS } }],
  });
  worker = await TestWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
  url = await worker.origin;
  client = new TroupeClient({ baseURL: url });
  directory = mkdtempSync(join(tmpdir(), "troupe-cli-"));
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await model.close();
  rmSync(directory, { recursive: true, force: true });
});

/** A file with component JSON. */
function file(name: string, component: object): string {
  const path = join(directory, name);
  writeFileSync(path, JSON.stringify(component));
  return path;
}

test("troupe run creates the team from a file once, shows the messages with their authors, and ends with 0", async () => {
  const component = file("speaker.json", speaker(["Good morning.", "Good evening."]));
  const first = await troupe(["run", "greeter", "Hello", "--component", component], { url });
  expect(first).toMatchObject({ code: 0, stderr: "" });
  expect(first.stdout).toBe(
    "user: Hello\nspeaker: Good morning.\n(completed: no stop reason; 3 tokens)\n",
  );
  const second = await troupe(["run", "greeter", "Hello", "--component", component], { url });
  expect(second.stdout).toContain("speaker: Good evening.\n");
});

test("troupe run creates the team from a template, and reads the task from the standard input", async () => {
  const args = ["run", "planned", "-", "--template", "human_in_the_loop"];
  expect(await troupe(args, { url, input: "A day in town\n" })).toMatchObject({ code: 5 });
  const { messages } = await client.team("planned").messages();
  expect(messages[0]).toMatchObject({ source: "user", content: "A day in town" });
  expect(await troupe(args, { url, input: " \n" })).toMatchObject({ code: 2 });
});

test("troupe run attaches files, which the server reads", async () => {
  await client.teams.create({ id: "reader", component: speaker(["Read."]) });
  const path = join(directory, "rents.csv");
  writeFileSync(path, "city,rent\n");
  const args = ["run", "reader", "What is in it?", "--file", path];
  expect(await troupe(args, { url })).toMatchObject({ code: 0, stderr: "" });
  const { messages } = await client.team("reader").messages();
  expect(messages[0]).toMatchObject({
    content: [
      "What is in it?",
      { data: btoa("city,rent\n"), name: "rents.csv", media_type: "text/csv" },
    ],
  });
  const missing = await troupe(["run", "reader", "--file", join(directory, "none")], { url });
  expect(missing).toMatchObject({ code: 2 });
  expect(missing.stderr).toContain("cannot be read");
});

test("troupe run shows text while it grows", async () => {
  model.rules.hold("speak");
  await client.teams.create({ id: "slow", component: pausing(model.url) });
  const command = new RunningCommand(["run", "slow", "Speak."], { url });
  await command.until(/speaker: one two three/);
  expect(await client.team("slow").get()).toMatchObject({ status: "running" });
  model.release("speak");
  const { code, stdout } = await command.end();
  expect(code).toBe(0);
  expect(stdout).toContain(`speaker: ${WORDS}\n`);
});

test("troupe run with --json prints the items, and texts as their added pieces", async () => {
  await client.teams.create({ id: "items", component: speaker(["red green blue"]) });
  const { code, stdout } = await troupe(["run", "items", "Speak.", "--json"], { url });
  const items = jsonLines(stdout);
  expect(code).toBe(0);
  expect(items[0]).toMatchObject({ kind: "run", run: { team_id: "items" } });
  const texts = items.filter(({ kind }) => kind === "text");
  expect(texts.map(({ delta }) => delta).join("")).toBe("red green blue");
  expect(items.at(-1)).toMatchObject({ kind: "result" });
});

test("troupe run ends with 3 when the run fails, and prints the reason", async () => {
  await client.teams.create({ id: "empty", component: speaker([]) });
  const { code, stdout } = await troupe(["run", "empty", "Speak."], { url });
  expect(code).toBe(3);
  expect(stdout).toMatch(/^\(failed: .+\)$/m);
});

test("troupe run ends with 4 when the run is cancelled", async () => {
  model.rules.hold("speak");
  await client.teams.create({ id: "cancelled", component: pausing(model.url) });
  const command = new RunningCommand(["run", "cancelled", "Speak."], { url });
  await command.until(/speaker: one/);
  expect(await troupe(["stop", "cancelled", "--now"], { url })).toMatchObject({ code: 0 });
  expect(await command.end()).toMatchObject({ code: 4 });
});

test("troupe run without a terminal ends with 5 when the run waits for a human", async () => {
  await client.teams.create({ id: "asking", component: HUMAN });
  const { code, stderr } = await troupe(["run", "asking", "Hello"], { url });
  expect(code).toBe(5);
  expect(stderr).toContain("troupe inbox");
  const again = await troupe(["run", "asking", "Hello"], { url });
  expect(again).toMatchObject({ code: 1 });
  expect(again.stderr).toMatch(/^error: .*run/);
});

test("troupe run leaves a run that continues after Ctrl-C, and attach shows it again", async () => {
  model.rules.hold("speak");
  await client.teams.create({ id: "left", component: pausing(model.url) });
  const command = new RunningCommand(["run", "left", "Speak."], { url });
  await command.until(/speaker: one two/);
  command.interrupt();
  const left = await command.end();
  expect(left).toMatchObject({ code: 130 });
  expect(left.stderr).toContain('"troupe attach left" shows it again');
  const attaching = new RunningCommand(["attach", "left"], { url });
  await attaching.until(/speaker: one two/);
  model.release("speak");
  const attached = await attaching.end();
  expect(attached).toMatchObject({ code: 0 });
  expect(attached.stdout).toContain(`user: Speak.\nspeaker: ${WORDS}\n`);
  const nothing = await troupe(["attach", "left"], { url });
  expect(nothing).toMatchObject({ code: 1 });
  expect(nothing.stderr).toContain('No run is active in the team "left"');
});

test("troupe run prints no control characters of agents", async () => {
  const component = speaker(["\u001B[2Jred\u0007 \u009B31mgreen"]);
  await client.teams.create({ id: "escaping", component });
  const { stdout } = await troupe(["run", "escaping", "Speak."], { url });
  expect(stdout).toContain("speaker: [2Jred 31mgreen\n");
});

test("troupe run names the team that is missing and how to create it", async () => {
  const { code, stderr } = await troupe(["run", "nobody", "Hello"], { url });
  expect(code).toBe(1);
  expect(stderr).toContain('There is no team "nobody". Create it with --template NAME');
});
