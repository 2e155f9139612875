import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inTurn, newTeam, writer } from "../../support/teams.ts";
import { runsOf, type Stage, startStage, teamOf } from "../support/stage.ts";

const model = "template:tools_assistant";

let stage: Stage;

beforeAll(async () => {
  stage = await startStage();
});

afterAll(() => stage[Symbol.asyncDispose]());

const user = (content: string) => ({ type: "message" as const, role: "user" as const, content });

function textsOf(items: readonly OpenAI.Conversations.ConversationItem[]): string[] {
  return items.map((item) => {
    if (item.type !== "message") return item.type;
    const [part] = item.content;
    return `${item.role}: ${part !== undefined && "text" in part ? part.text : ""}`;
  });
}

describe("a conversation", () => {
  test("keeps all concurrent changes", async () => {
    const { openai } = stage;
    const { id } = await openai.conversations.create({ items: [user("0"), user("dropped")] });
    const [dropped] = (await openai.conversations.items.list(id, { limit: 1 })).data;
    const names = Array.from({ length: 12 }, (_, index) => String(index + 1));
    await Promise.all([
      ...names.map((name) => openai.conversations.items.create(id, { items: [user(name)] })),
      openai.conversations.update(id, { metadata: { topic: "race" } }),
      openai.conversations.items.delete(dropped?.id ?? "", { conversation_id: id }),
    ]);
    const { data } = await openai.conversations.items.list(id, { limit: 100 });
    expect(textsOf(data).toSorted()).toEqual(
      ["0", ...names].map((name) => `user: ${name}`).toSorted(),
    );
    expect(await openai.conversations.retrieve(id)).toMatchObject({ metadata: { topic: "race" } });
  });

  test("has items and metadata before it has a team's answers", async () => {
    const { openai, worker } = stage;
    const made = await openai.conversations.create({
      metadata: { topic: "demo" },
      items: [user("My name is Ada.")],
    });
    expect(made).toMatchObject({ object: "conversation", metadata: { topic: "demo" } });
    const { id } = made;
    expect(await openai.conversations.retrieve(id)).toEqual(made);
    const added = await openai.conversations.items.create(id, {
      items: [{ type: "message", role: "assistant", content: "Hello, Ada." }, user("Wrong.")],
    });
    expect(textsOf(added.data)).toEqual(["assistant: Hello, Ada.", "user: Wrong."]);
    expect(added.data[0]).toMatchObject({ content: [{ type: "output_text", annotations: [] }] });
    await openai.conversations.items.delete(added.data[1]!.id ?? "", { conversation_id: id });
    const response = await openai.responses.create({ model, input: "Write.", conversation: id });
    expect(response.conversation).toEqual({ id });
    const [run] = await runsOf(worker, id);
    expect(run!.task.map(({ source, content }) => `${source}: ${String(content)}`)).toEqual([
      "user: My name is Ada.",
      "assistant: Hello, Ada.",
      "user: Write.",
    ]);
    const second = await openai.responses.create({ model, input: "Again.", conversation: { id } });
    expect(second.output_text).toBe("Four little words here.");
    const all = [
      "user: My name is Ada.",
      "assistant: Hello, Ada.",
      "user: Write.",
      "assistant: Four little words here.",
      "user: Again.",
      "assistant: Four little words here.",
    ];
    const listed: OpenAI.Conversations.ConversationItem[] = [];
    for await (const item of openai.conversations.items.list(id, { order: "asc", limit: 2 }))
      listed.push(item);
    expect(textsOf(listed)).toEqual(all);
    const latest: OpenAI.Conversations.ConversationItem[] = [];
    for await (const item of openai.conversations.items.list(id, { limit: 4 })) latest.push(item);
    expect(textsOf(latest)).toEqual(all.toReversed());
    const [first] = listed as { id: string }[];
    const one = await openai.conversations.items.retrieve(first!.id, { conversation_id: id });
    expect(one).toEqual(first);
    await expect(
      openai.conversations.items.delete(first!.id, { conversation_id: id }),
    ).rejects.toMatchObject({ status: 405, code: "item_not_deletable" });
    expect(await openai.conversations.update(id, { metadata: { topic: "other" } })).toMatchObject({
      metadata: { topic: "other" },
    });
    expect(await openai.conversations.delete(id)).toMatchObject({ id, deleted: true });
    await expect(openai.conversations.retrieve(id)).rejects.toMatchObject({
      status: 404,
      code: "conversation_not_found",
    });
  });

  test("may be that of a team, which is not erased here", async () => {
    const { openai, worker } = stage;
    await newTeam(worker, { id: "desk", component: inTurn(writer()) });
    await openai.responses.create({ model: "team:desk", input: "Write." });
    const { data } = await openai.conversations.items.list("desk");
    expect(textsOf(data)).toEqual(["assistant: Four little words here.", "user: Write."]);
    await openai.conversations.items.create("desk", { items: [user("Remember this.")] });
    await openai.responses.create({ model: "team:desk", input: "Write.", conversation: "desk" });
    const [run] = await runsOf(worker, "desk");
    expect(run!.task.map(({ content }) => content)).toEqual(["Remember this.", "Write."]);
    await expect(openai.conversations.delete("desk")).rejects.toMatchObject({
      status: 405,
      code: "conversation_not_deletable",
    });
    const empty = await openai.conversations.create({});
    await expect(
      openai.responses.create({ model: "team:desk", input: "Write.", conversation: empty.id }),
    ).rejects.toMatchObject({ status: 400, param: "conversation" });
  });

  test("holds only as many items as one response accepts", async () => {
    const { openai } = stage;
    const { id } = await openai.conversations.create({ items: [user("x".repeat(900_000))] });
    const more = (length: number) =>
      openai.conversations.items.create(id, { items: [user("y".repeat(length))] });
    await expect(more(200_000)).rejects.toMatchObject({ param: "items" });
    await more(20_000);
    expect((await openai.conversations.items.list(id)).data).toHaveLength(2);
  });

  test("refuses an invalid item and names it", async () => {
    const { openai } = stage;
    await expect(
      openai.conversations.create({ items: [{ type: "nothing" } as never] }),
    ).rejects.toMatchObject({ status: 400, param: expect.stringContaining("items[0]") });
    await expect(openai.conversations.items.list("none")).rejects.toMatchObject({ status: 404 });
  });
});

describe("a compaction", () => {
  test("replaces the conversation after a response", async () => {
    const { openai, worker } = stage;
    const before = await openai.responses.create({ model, input: "Write." });
    const compacted = await openai.responses.compact({
      model,
      previous_response_id: before.id,
    });
    expect(compacted).toMatchObject({
      object: "response.compaction",
      output: [{ type: "compaction" }],
      usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
    });
    const next = await openai.responses.create({
      model,
      input: [...(compacted.output as never[]), user("Go on.")],
    });
    expect(next.previous_response_id).toBe(before.id);
    expect(next.conversation).toEqual(before.conversation);
    expect(await runsOf(worker, next.conversation!.id)).toHaveLength(2);
  });

  test("replaces items, and those of an earlier compaction", async () => {
    const { openai, worker } = stage;
    const input = [
      user("My name is Ada."),
      { type: "message" as const, role: "assistant" as const, content: "Hello." },
    ];
    const one = await openai.responses.compact({ model, input });
    const two = await openai.responses.compact({
      model,
      input: [...(one.output as never[]), user("I write.")],
    });
    const next = await openai.responses.create({
      model,
      input: [...(two.output as never[]), user("Go on.")],
    });
    const [run] = await runsOf(worker, next.conversation!.id);
    expect(run!.task.map(({ content }) => content)).toEqual([
      "My name is Ada.",
      "Hello.",
      "I write.",
      "Go on.",
    ]);
    await expect(
      openai.responses.create({
        model,
        input: [{ type: "compaction", encrypted_content: "bm90aGluZw==" }],
      }),
    ).rejects.toMatchObject({ status: 400, param: "input[0].encrypted_content" });
    await expect(openai.responses.compact({ input } as never)).rejects.toMatchObject({
      status: 400,
      param: "model",
    });
  });
});

test("a response with store: false is erased soon", async () => {
  const { openai, worker } = stage;
  const expires = async (id: string) =>
    ((await teamOf(worker, id)) as unknown as { expires_in: number }).expires_in;
  const stored = await openai.responses.create({ model, input: "Write." });
  const unstored = await openai.responses.create({ model, input: "Write.", store: false });
  expect([stored, unstored]).toMatchObject([{ store: true }, { store: false }]);
  expect(await expires(stored.conversation!.id)).toBe(3600);
  expect(await expires(unstored.conversation!.id)).toBe(60);
});
