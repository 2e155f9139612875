import type { JsonObject } from "troupe";
import { type TeamClient, TroupeClient } from "troupe/client";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { RuleInput } from "../../../support/fake-openai/rule.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../../support/fake-openai/server.ts";
import { TestWorker } from "../../../support/worker.ts";
import { HUMAN, writer } from "../support/teams.ts";
import { SDK_NAMES } from "./support/sdks.ts";
import type { Component } from "./support/teams.ts";
import { type ChatOptions, newChat, textsOf } from "./support/test-chat.ts";

let openai: FakeOpenAI;
let worker: TestWorker;
let client: TroupeClient;
let team: TeamClient;
let count = 0;

function once(text: string, fault: RuleInput["fault"]): RuleInput {
  const reply = { content: "Four little words here." };
  return { name: text, match: { user: text }, times: 1, fault, reply };
}

beforeAll(async () => {
  openai = await startFakeOpenAI({
    rules: [
      {
        name: "stepped",
        match: { user: "To Lisbon." },
        hold: true,
        hold_after: [2],
        reply: { content: "One by one by one." },
      },
      { name: "held", match: { user: "slowly" }, hold: true, reply: { content: "At last." } },
      // Each of them once in each test.
      ...SDK_NAMES.flatMap((name) => [
        once(`${name}: break off`, { kind: "cut", after_chunks: 2 }),
        once(`${name}: fail`, { kind: "status", status: 400 }),
        once(`${name}: fail then`, { kind: "status", status: 400 }),
      ]),
      { name: "other", reply: { content: "Four little words here." } },
    ],
  });
  const settings = { OPENAI_API_KEY: "test-key", OPENAI_BASE_URL: openai.url };
  // Failed runs are what the tests are about.
  worker = await TestWorker.start(settings, { logs: () => undefined });
  client = new TroupeClient({ baseURL: await worker.origin });
});
afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await openai[Symbol.asyncDispose]();
});
beforeEach(() => {
  count++;
});

describe.each(SDK_NAMES)("a message of %s", (name) => {
  const chat = async (options: ChatOptions = {}) =>
    newChat(name, `${await worker.origin}/ai-sdk/teams/${team.id}/chat`, {
      id: "chat",
      ...options,
    });
  async function chatWith(component: Component, options: ChatOptions = {}) {
    team = await client.teams.create({ id: `team-${count}`, component });
    return chat(options);
  }
  const writing = () => withModel(writer());
  const runs = async () => (await team.runs()).runs;
  /** Agents in turn, once each, as JSON. */
  const withModel = (...participants: JsonObject[]): Component => ({
    provider: "autogen_agentchat.teams.RoundRobinGroupChat",
    component_type: "team",
    config: { participants, max_turns: participants.length },
  });

  test("is resumed from its beginning while it is being written, also elsewhere", async () => {
    openai.rules.hold("held");
    const first = await chatWith(writing());
    const sent = first.sendMessage({ text: "Write slowly." });
    await expect.poll(async () => (await runs()).length).toBe(1);
    // Leaving ends nothing.
    await first.stop();
    await sent;
    expect((await runs())[0]!.status).toBe("running");
    const again = await chat({ messages: first.messages });
    const elsewhere = await chat();
    const resumed = [again, elsewhere].map((one) => one.resumeStream());
    await expect.poll(() => again.requests.length + elsewhere.requests.length).toBe(2);
    openai.release("held");
    await Promise.all(resumed);
    const [run] = await runs();
    for (const one of [again, elsewhere]) {
      expect(one.error).toBeUndefined();
      expect(one.last).toMatchObject({ id: run!.id, metadata: { run: { status: "completed" } } });
      expect(textsOf(one.last)).toEqual(["At last."]);
      // Nothing is left over of what the first page had of the message.
      expect(one.messages.filter(({ role }) => role === "assistant")).toHaveLength(1);
    }
    await elsewhere.resumeStream();
    expect(elsewhere.requests.at(-1)).toMatchObject({ method: "GET", status: 204 });
  });

  test("shows its question again after a reload, and the text after the answer is a message of its own", async () => {
    openai.rules.hold("stepped");
    const first = await chatWith(withModel(HUMAN, writer()));
    await first.sendMessage({ text: "Hello." });
    const asked = await chat();
    await asked.resumeStream();
    expect(asked.messages).toEqual([first.last]);
    const answered = asked.sendMessage({ text: "To Lisbon." });
    await expect.poll(() => asked.messages.length).toBe(3);
    await expect.poll(() => textsOf(asked.last)[0]).toContain("One");
    const again = await chat({ messages: asked.messages });
    const resumed = again.resumeStream();
    await expect.poll(() => again.requests.length).toBe(1);
    openai.release("stepped");
    await Promise.all([resumed, answered]);
    expect(again.messages.map(({ id }) => id)).toEqual(asked.messages.map(({ id }) => id));
    expect(textsOf(again.last)).toEqual(["One by one by one."]);
    expect(again.last).toEqual(asked.last);
  });

  test("marks a text that broke off and shows it again", async () => {
    const retries: unknown[] = [];
    const one = await chatWith(writing(), {
      onData: (part) => part.type === "data-retry" && retries.push(part.data),
    });
    await one.sendMessage({ text: `${name}: break off` });
    expect(one.error).toBeUndefined();
    const message = expect.any(String) as string;
    expect(retries).toEqual([{ message, source: "writer", attempt: 1 }]);
    expect(one.last.parts).toMatchObject([
      { type: "step-start" },
      { type: "text", state: "done", providerMetadata: { troupe: { void: true } } },
      { type: "text", text: "Four little words here.", state: "done" },
    ]);
    expect(textsOf(one.last)).toEqual(["Four little words here."]);
  });

  test("ends when its run is cancelled", async () => {
    openai.rules.hold("held");
    const one = await chatWith(writing());
    const sent = one.sendMessage({ text: "Write slowly." });
    await expect.poll(async () => (await runs())[0]?.status).toBe("running");
    await expect.poll(() => one.messages.length).toBe(2);
    const { run } = one.last.metadata as { run: { id: string; team_id: string } };
    await client.team(run.team_id).stop(run.id, "now");
    await sent;
    openai.release("held");
    expect(one.status).toBe("ready");
    expect(one.last.metadata).toMatchObject({ run: { status: "cancelled" }, usage: {} });
  });

  test("is an error when its run fails, and regenerate tries it again", async () => {
    const one = await chatWith(writing());
    await one.sendMessage({ text: `${name}: fail` });
    expect(one.status).toBe("error");
    const [failed] = await runs();
    expect(one.error?.message).toBe(`${failed!.error!.type}: ${failed!.error!.message}`);
    expect(one.last.parts.at(-1)).toMatchObject({
      type: "data-problem",
      data: { code: failed!.error!.type, detail: failed!.error!.message },
    });
    await one.regenerate();
    expect(one.error).toBeUndefined();
    expect(textsOf(one.last)).toEqual(["Four little words here."]);
    expect((await runs()).map(({ status, retry_of }) => [status, retry_of])).toEqual([
      ["completed", failed!.id],
      ["failed", null],
    ]);
  });

  test("is shown again if its run continues while it is to be answered again", async () => {
    openai.rules.hold("held");
    const one = await chatWith(writing());
    const sent = one.sendMessage({ text: "Write slowly." });
    await expect.poll(async () => (await runs())[0]?.status).toBe("running");
    await one.stop();
    await sent;
    const again = one.regenerate();
    await expect.poll(() => one.requests.length).toBe(2);
    openai.release("held");
    await again;
    expect(one.error).toBeUndefined();
    expect(textsOf(one.last)).toEqual(["At last."]);
    expect(await runs()).toHaveLength(1);
  });

  test("is sent by regenerate if it has not arrived", async () => {
    const one = await chatWith(writing(), {
      messages: [{ id: "m1", role: "user", parts: [{ type: "text", text: "Hello." }] }],
    });
    await one.regenerate();
    expect(textsOf(one.last)).toEqual(["Four little words here."]);
    expect(await runs()).toHaveLength(1);
  });

  test("is retried if its run fails after an answer", async () => {
    const one = await chatWith(withModel(HUMAN, writer()));
    await one.sendMessage({ text: "Ask me." });
    await one.sendMessage({ text: `${name}: fail then` });
    expect(one.status).toBe("error");
    await one.regenerate();
    expect(textsOf(one.last)).toEqual(["Four little words here."]);
    expect((await runs()).map(({ status }) => status)).toEqual(["completed", "failed"]);
  });

  test("is accepted once", async () => {
    const one = await chatWith(writing());
    await one.sendMessage({ text: "Hello." });
    const again = await chat({ messages: one.messages.slice(0, 1) });
    await again.sendMessage();
    expect(again.messages).toEqual(one.messages);
    expect(await runs()).toHaveLength(1);
  });

  test("is refused by a busy team, or treated as the body asks", async () => {
    openai.rules.hold("held");
    const one = await chatWith(writing());
    const sent = one.sendMessage({ text: "Write slowly." });
    await expect.poll(async () => (await runs())[0]?.status).toBe("running");
    const other = await chat({ id: "other", body: { on_conflict: "reject" } });
    await other.sendMessage({ text: "Hello." });
    expect(other.error?.message).toMatch(/^team_busy: The team's run \S+ is running\.$/);
    const queued = await chat({ id: "third", body: { on_conflict: "queue" } });
    const waiting = queued.sendMessage({ text: "Hello." });
    await expect
      .poll(() => queued.lastMessage?.metadata)
      .toMatchObject({ run: { status: "queued", queue_position: 1 } });
    openai.release("held");
    await Promise.all([sent, waiting]);
    expect(textsOf(queued.last)).toEqual(["Four little words here."]);
    expect(queued.last.metadata).toMatchObject({ run: { status: "completed" } });
  });

  test("is refused if it answers no question", async () => {
    const one = await chatWith(writing());
    await one.sendMessage({ text: "Hello." });
    const again = await chat({ messages: one.messages });
    await again.sendMessage();
    expect(again.error?.message).toMatch(/^nothing_to_answer: /);
  });
});
