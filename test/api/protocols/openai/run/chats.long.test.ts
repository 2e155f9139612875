// Programs for people, as Open WebUI and LibreChat: they send the whole chat with each message, and name it in a header.
import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HUMAN, inTurn, newTeam } from "../../support/teams.ts";
import { runsOf, type Stage, startStage } from "../support/stage.ts";

const model = "template:tools_assistant";

let stage: Stage;

beforeAll(async () => {
  stage = await startStage();
});

afterAll(() => stage[Symbol.asyncDispose]());

describe("a chat program", () => {
  const ask = async (
    messages: OpenAI.ChatCompletionMessageParam[],
    headers: Record<string, string> = {},
    named = model,
  ) =>
    (await stage.openai.chat.completions.create(
      { model: named, messages },
      { headers },
    )) as OpenAI.ChatCompletion & { troupe: { team_id: string } };
  const said = (content: string) => ({ role: "user" as const, content });
  const answered = (content: string) => ({ role: "assistant" as const, content });

  test.each(["X-OpenWebUI-Chat-Id", "X-LibreChat-Conversation-Id", "Troupe-Chat", "X-Troupe-Chat"])(
    "that names a chat has one team for it: %s",
    async (header) => {
      const chat = { [header]: `chat of ${header}` };
      const first = await ask([said("First.")], chat);
      const { team_id } = first.troupe;
      const one = first.choices[0]!.message.content ?? "";
      const second = await ask([said("First."), answered(one), said("Second.")], chat);
      expect(second.troupe.team_id).toBe(team_id);
      const tasks = async () =>
        (await runsOf(stage.worker, team_id)).map(({ task }) =>
          task.map((message) => message.content),
        );
      expect(await tasks()).toEqual([["Second."], ["First."]]);
      // Its user takes the answer back.
      const again = await ask([said("First."), answered(one), said("Second.")], chat);
      expect(again.troupe.team_id).not.toBe(team_id);
      const two = again.choices[0]!.message.content ?? "";
      const third = await ask(
        [said("First."), answered(one), said("Second."), answered(two), said("Third.")],
        chat,
      );
      expect(third.troupe.team_id).toBe(again.troupe.team_id);
      expect(await tasks()).toHaveLength(2);
      const other = await ask([said("First.")], { [header]: "another" });
      expect(other.troupe.team_id).not.toBe(team_id);
    },
  );

  test("that uses responses has one team for a chat, too", async () => {
    const { openai, worker } = stage;
    const headers = { "X-OpenWebUI-Chat-Id": "chat of responses" };
    const create = (...input: unknown[]) =>
      openai.responses.create(
        { model, input: input as OpenAI.Responses.ResponseInput, instructions: "Be brief." },
        { headers },
      );
    const first = await create(said("First."));
    const second = await create(said("First."), ...first.output, said("Second."));
    expect(second.conversation).toEqual(first.conversation);
    const tasks = (await runsOf(worker, first.conversation!.id)).map(({ task }) =>
      task.map(({ content }) => content),
    );
    expect(tasks).toEqual([["Second."], ["Be brief.", "First."]]);
    const again = await create(said("First."), ...first.output, said("Second."));
    expect(again.conversation).not.toEqual(first.conversation);
    // A response that says itself what it continues is not a matter of the chat.
    const third = await openai.responses.create(
      { model, input: "Third.", previous_response_id: second.id },
      { headers },
    );
    expect(third.conversation).toEqual(first.conversation);
  });

  test.each(["new", "null", "{{CHAT_ID}}", " "])(
    "that sends the header %j shares no chat with others",
    async (name) => {
      const chat = { "troupe-chat": name };
      const human = "template:human_in_the_loop";
      const one = await ask([said("Write.")], chat, human);
      const other = await ask([said("Write.")], chat, human);
      expect(other.troupe.team_id).not.toBe(one.troupe.team_id);
    },
  );

  test("continues its chat after an answer that was merged from several", async () => {
    const chat = { "troupe-chat": "merged" };
    const first = await ask([said("First.")], chat);
    const one = first.choices[0]!.message.content ?? "";
    const merged = await ask(
      [
        said(
          'You have been provided with a set of responses from various models to the latest user query: "First."',
        ),
      ],
      chat,
    );
    expect(merged.troupe.team_id).not.toBe(first.troupe.team_id);
    const second = await ask([said("First."), answered(one), said("Second.")], chat);
    expect(second.troupe.team_id).toBe(first.troupe.team_id);
  });

  test("answers a question in the same chat", async () => {
    await newTeam(stage.worker, { id: "asks", component: inTurn(HUMAN) });
    const human = "template:human_in_the_loop";
    const chat = { "troupe-chat": "questions" };
    const asked = await ask([said("Write.")], chat, human);
    const question = asked.choices[0]!.message.content ?? "";
    const answer = await ask([said("Write."), answered(question), said("APPROVE")], chat, human);
    expect(answer.troupe.team_id).toBe(asked.troupe.team_id);
    expect(await runsOf(stage.worker, asked.troupe.team_id)).toHaveLength(1);
  });

  test.each([
    "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.",
    "Provide a concise, 5-word-or-less title for the conversation, using title case conventions.",
    "Analyze this conversation and provide:\n1. The detected language of the conversation\n2. A concise title",
    "Your task is to reflect the speaker's likely facial expression through a fitting emoji.",
  ])("gets no team for a title: %s", async (prompt) => {
    const before = await count();
    await expect(ask([said(prompt)])).rejects.toMatchObject({ status: 400, code: "chat_task" });
    await expect(
      stage.openai.responses.create({ model, input: prompt, stream: true }),
    ).rejects.toMatchObject({ status: 400, code: "chat_task" });
    expect(await count()).toBe(before);
    // A chat may speak of titles.
    await ask([said("Write a short story with a title.")]);
  });

  async function count(): Promise<number> {
    const response = await stage.worker.fetch("/v1/teams?limit=200");
    return ((await response.json()) as { teams: unknown[] }).teams.length;
  }
});
