import { afterAll, beforeAll, expect, test } from "vitest";
import { type JsonObject, toText } from "troupe";
import { TroupeClient } from "#client/index.ts";
import { HeldModel } from "../../support/held-model.ts";
import { TestWorker } from "../../support/worker.ts";
import { jsonLines, RunningCommand, troupe } from "../support/command.ts";
import { calculatingClerk, conversation, HUMAN } from "../support/teams.ts";

const terminal = true;

let worker: TestWorker;
let url: string;
let client: TroupeClient;

beforeAll(async () => {
  worker = await TestWorker.start();
  url = await worker.origin;
  client = new TroupeClient({ baseURL: url });
});

afterAll(() => worker[Symbol.asyncDispose]());

test("a run asks its questions, and continues with the answers", async () => {
  const component = conversation(["What shall we do?", "Fine."]);
  await client.teams.create({ id: "talk", component });
  const command = new RunningCommand(["run", "talk", "Hello"], { url, terminal });
  await command.until(/speaker: What shall we do\?[^]*> $/);
  command.type("A walk\r");
  await command.until(/speaker: Fine\.[^]*> $/);
  command.type("DONE\r");
  const { code, stdout } = await command.end();
  expect(code).toBe(0);
  expect(stdout).toContain("(completed: Text 'DONE' mentioned");
  const { messages } = await client.team("talk").messages();
  const said = messages.filter(({ type }) => type === "TextMessage").map(toText);
  expect(said).toEqual(["Hello", "What shall we do?", "A walk", "Fine.", "DONE"]);
});

test("a question closes when another client answers it", async () => {
  await client.teams.create({ id: "two", component: conversation(["Yes?", "Ah."]) });
  const command = new RunningCommand(["run", "two", "Hello"], { url, terminal });
  await command.until(/speaker: Yes\?[^]*> $/);
  const team = client.team("two");
  const run = (await team.get()).active_run ?? "";
  const [first] = await team.requests(run);
  await team.answer(run, first?.id ?? "", { content: "from elsewhere" });
  await command.until(/speaker: Ah\.[^]*> $/);
  command.type("DONE\r");
  expect(await command.end()).toMatchObject({ code: 0 });
});

test.for([
  { answers: ["y"], says: "clerk: 42\n" },
  { answers: ["maybe", "n", "too risky"], says: "too risky" },
])("a tool call is shown and approved or refused: $answers", async ({ answers, says }) => {
  const id = `approval-${answers.length}`;
  await client.teams.create({ id, component: await calculatingClerk(client) });
  const command = new RunningCommand(["run", id, "6 * 7?"], { url, terminal });
  await command.until(
    /wants to call the tool "calculator"[^]*"expression": "6 \* 7"[^]*\(y\/n, run[^)]*\) $/,
  );
  for (const [index, answer] of answers.entries()) {
    await command.until(new RegExp(`(?:(?:\\(y\\/n[^)]*\\)|empty\\):) [^]*){${index + 1}}$`));
    command.type(`${answer}\r`);
  }
  const { code, stdout } = await command.end();
  expect(code).toBe(0);
  expect(stdout).toContain(says);
});

test("Ctrl-C at a question leaves the run", async () => {
  await client.teams.create({ id: "left-asking", component: conversation(["Yes?"]) });
  const command = new RunningCommand(["run", "left-asking", "Hello"], { url, terminal });
  await command.until(/> $/);
  command.type("\u0003");
  expect(await command.end()).toMatchObject({ code: 130 });
  expect(await client.team("left-asking").get()).toMatchObject({ status: "waiting" });
});

test("the inbox asks for answers, also to approvals, and skips on Enter", async () => {
  await using own = await TestWorker.start();
  const other = new TroupeClient({ baseURL: await own.origin });
  const skipped = await other.teams.create({ id: "skipped", component: HUMAN });
  await skipped.start("Skip me");
  await expect.poll(async () => (await other.requests.list()).requests.length).toBe(1);
  const answered = await other.teams.create({ id: "answered", component: HUMAN });
  const run = answered.run("Answer me").result();
  await expect.poll(async () => (await other.requests.list()).requests.length).toBe(2);
  const { requests } = await other.requests.list();
  const command = new RunningCommand(["inbox"], { url: await own.origin, terminal });
  for (const [index, { team_id }] of requests.entries()) {
    await command.until(new RegExp(`(?:> [^]*){${index}}Team ${team_id}[^]*> $`));
    command.type(team_id === "answered" ? "Here you are\r" : "\r");
  }
  expect(await command.end()).toMatchObject({ code: 0 });
  expect((await run).messages.at(-1)).toMatchObject({ content: "Here you are" });
  expect((await other.requests.list()).requests).toMatchObject([{ team_id: "skipped" }]);
});

test("troupe inbox lists the questions of all teams", async () => {
  await client.teams.create({ id: "inbox-team", component: HUMAN });
  const { id } = await client.team("inbox-team").start("Well?");
  await expect
    .poll(async () => (await troupe(["inbox"], { url })).stdout)
    .toContain(`Team inbox-team, run ${id}: human asks for input.`);
  const { stdout } = await troupe(["inbox", "--json"], { url });
  expect(jsonLines(stdout)).toContainEqual(
    expect.objectContaining({ team_id: "inbox-team", run_id: id, kind: "input" }),
  );
});

test("lines that are typed while a run is active go into it, with run and with attach", async () => {
  await using model = await HeldModel.start();
  await using own = await TestWorker.start({
    ALLOWED_EGRESS: "http://127.0.0.1",
    SECRETS_KEY: btoa("k".repeat(32)),
  });
  const other = await own.origin;
  const component = {
    provider: "AssistantAgent",
    config: {
      name: "writer",
      model_client: model.client() as JsonObject,
      model_client_stream: true,
    },
  };
  const team = await new TroupeClient({ baseURL: other }).teams.create({ id: "typed", component });
  const command = new RunningCommand(["run", "typed", "Write."], { url: other, terminal });
  (await model.request(1)).begin("Once");
  await command.until(/writer: Once/);
  command.type("Shorter.\r");
  await command.until(/user: Shorter\./);
  const attached = new RunningCommand(["attach", "typed"], { url: other, terminal });
  await attached.until(/writer: Once/);
  attached.type("\rIn German.\r");
  await command.until(/user: In German\./);
  (await model.request(1)).end(".");
  const second = await model.request(2);
  expect(second.texts.slice(-3)).toEqual(["Once.", "Shorter.", "In German."]);
  second.end("Kurz.");
  expect(await command.end()).toMatchObject({ code: 0 });
  expect(await attached.end()).toMatchObject({ code: 0 });
  expect((await team.messages()).messages.map(toText)).toEqual([
    "Write.",
    "Shorter.",
    "In German.",
    "Once.",
    "Kurz.",
  ]);
});
