import type OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { zodResponseFormat } from "openai/helpers/zod";
import { jsonInit } from "../../../support/http-app.ts";
import { SAMPLE_COMPONENT } from "../../../support/sample-component.ts";
import { HUMAN, inTurn, newTeam, writer } from "../support/teams.ts";
import { careful } from "../../../../console/test/support/components.ts";
import { all, LOCATE, runsOf, type Stage, startStage, teamOf } from "./support/stage.ts";

type Chunk = OpenAI.ChatCompletionChunk & { troupe?: { [key: string]: unknown } };

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

let stage: Stage;
let count = 0;
let id: string;
let model: string;

beforeAll(async () => {
  stage = await startStage();
});

afterAll(() => stage[Symbol.asyncDispose]());

beforeEach(() => {
  id = `team${++count}`;
  model = `team:${id}`;
});

const user = (content: string) => ({ role: "user" as const, content });
const assistant = (content: string) => ({ role: "assistant" as const, content });
const locate = { type: "function" as const, function: LOCATE };

function textOf(chunks: readonly Chunk[]): string {
  return chunks.map((one) => one.choices[0]?.delta.content ?? "").join("");
}

function reasonOf(chunks: readonly Chunk[]): string | null | undefined {
  return chunks.findLast((one) => one.choices.length > 0)?.choices[0]?.finish_reason;
}

describe("a team as a model", () => {
  test("answers with its last message, and its task is the messages since its last answer", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: SAMPLE_COMPONENT });
    const first = await openai.chat.completions.create({ model, messages: [user("Hello.")] });
    const [run] = await runsOf(worker, id);
    expect(first).toMatchObject({
      id: `chatcmpl-${id}.${run?.id}`,
      object: "chat.completion",
      model,
      choices: [
        {
          index: 0,
          finish_reason: "stop",
          logprobs: null,
          message: { role: "assistant", content: "two", refusal: null },
        },
      ],
      troupe: { team_id: id, run_id: run?.id },
    });
    expect(Math.abs(first.created - Date.now() / 1000)).toBeLessThan(60);
    const second = await openai.chat.completions.create({
      model,
      messages: [user("Hello."), assistant("two"), user("More."), user("And more.")],
    });
    expect(second.choices[0]?.message.content).toBe("three");
    const [latest] = await runsOf(worker, id);
    expect(latest?.task).toMatchObject([
      { type: "TextMessage", source: "user", content: "More." },
      { type: "TextMessage", source: "user", content: "And more." },
    ]);
  });

  test.each([
    ["a single agent", writer()],
    ["the only participant of one turn", inTurn(writer())],
  ])("streams the text of %s in progress, with the usage", async (_, component) => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component });
    const stream = await openai.chat.completions.create({
      model,
      messages: [user("Write.")],
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks: Chunk[] = await all(stream);
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: "assistant", content: "" });
    expect(textOf(chunks)).toBe("Four little words here.");
    expect(chunks.filter((one) => one.choices[0]?.delta.content).length).toBeGreaterThan(2);
    expect(reasonOf(chunks)).toBe("stop");
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 1, completion_tokens: 4, total_tokens: 5 },
    });
    expect(new Set(chunks.map((one) => one.id)).size).toBe(1);
  });

  test("streams the last message of several agents at the end, and all of them on request", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: inTurn(writer({ name: "first" }), writer()) });
    const messages = [user("Write.")];
    const final: Chunk[] = await all(
      await openai.chat.completions.create({ model, messages, stream: true }),
    );
    expect(textOf(final)).toBe("Four little words here.");
    expect(final.filter((one) => one.choices[0]?.delta.content)).toHaveLength(1);
    const everything: Chunk[] = await all(
      await openai.chat.completions.create({
        model,
        messages,
        stream: true,
        troupe: { show: "all" },
      } as OpenAI.ChatCompletionCreateParamsStreaming),
    );
    expect(textOf(everything)).toBe("Four little words here.");
    const reasoning = everything.map(
      ({ choices: [choice] }) =>
        (choice?.delta as { reasoning_content?: string } | undefined)?.reasoning_content ?? "",
    );
    expect(reasoning.join("")).toBe("Four little words here.\n\nFour little words here.");
    expect(reasoning.filter((one) => one !== "").length).toBeGreaterThan(4);
    expect(everything.map((one) => one.troupe)).toContainEqual({ source: "first" });
    expect(everything.map((one) => one.troupe)).toContainEqual({
      item: expect.objectContaining({ type: "message", role: "agent" }),
    });
    const whole = await openai.chat.completions.create({
      model,
      messages,
      troupe: { show: "all" },
    } as OpenAI.ChatCompletionCreateParamsNonStreaming);
    expect(whole).toMatchObject({
      choices: [
        {
          message: {
            content: "Four little words here.",
            reasoning_content: "Four little words here.\n\nFour little words here.",
          },
        },
      ],
      troupe: { items: [{ type: "message" }, { type: "message" }] },
    });
  });

  test("is accepted by the client's streaming helper", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: writer() });
    const texts: string[] = [];
    const stream = openai.chat.completions
      .stream({ model, messages: [user("Write.")], stream_options: { include_usage: true } })
      .on("content", (delta) => texts.push(delta));
    expect(await stream.finalContent()).toBe("Four little words here.");
    expect((await stream.totalUsage()).total_tokens).toBe(5);
    expect(texts.join("")).toBe("Four little words here.");
  });

  test("keeps the reasoning of a model out of the answer", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: writer() });
    const messages = [user("Think.")];
    const chunks = await all(
      await openai.chat.completions.create({ model, messages, stream: true }),
    );
    expect(textOf(chunks)).toBe("Seven.");
    const whole = await openai.chat.completions.create({ model, messages });
    expect(whole.choices[0]?.message.content).toBe("Seven.");
  });

  test("gives structured messages as JSON when JSON is requested", async () => {
    const { worker, openai } = stage;
    const component = writer({
      structured_message_factory: {
        provider: "autogen_agentchat.messages.StructuredMessageFactory",
        component_type: "structured_message",
        config: {
          json_schema: {
            title: "Place",
            type: "object",
            properties: { city: { type: "string" } },
            required: ["city"],
          },
          format_string: "In {city}.",
          content_model_name: "Place",
        },
      },
      model_client: {
        provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
        component_type: "replay_chat_completion_client",
        config: {
          chat_completions: ['{"city": "Vienna"}'],
          cycle: true,
          model_info: {
            vision: false,
            function_calling: false,
            json_output: true,
            structured_output: true,
            family: "unknown",
          },
        },
      },
    });
    await newTeam(worker, { id, component });
    const messages = [user("Where?")];
    const text = await openai.chat.completions.create({ model, messages });
    expect(text.choices[0]?.message.content).toBe("In Vienna.");
    const parsed = await openai.chat.completions.parse({
      model,
      messages,
      response_format: zodResponseFormat(z.object({ city: z.string() }), "place"),
    });
    expect(parsed.choices[0]?.message.parsed).toEqual({ city: "Vienna" });
  });

  test("sees images", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: SAMPLE_COMPONENT });
    const withImage = (url: string) =>
      openai.chat.completions.create({
        model,
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "What is this?" },
              { type: "image_url", image_url: { url } },
            ],
          },
        ],
      });
    await withImage(`data:image/png;base64,${PIXEL}`);
    const [run] = await runsOf(worker, id);
    expect(run?.task).toMatchObject([
      { type: "MultiModalMessage", content: ["What is this?", { data: PIXEL }] },
    ]);
    await expect(withImage("data:image/png;base64,SGk=")).rejects.toMatchObject({
      status: 400,
      param: "messages[0].content[1].image_url",
      message: expect.stringContaining("is not a PNG, JPEG, WebP or GIF picture"),
    });
    await expect(withImage("https://10.0.0.1/cat.png")).rejects.toMatchObject({
      status: 400,
      param: "messages",
      message: expect.stringContaining("private address"),
    });
  });

  test("finds its run again by the key of a request", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: SAMPLE_COMPONENT });
    const ask = (content: string) =>
      openai.chat.completions.create(
        { model, messages: [user(content)] },
        { headers: { "Idempotency-Key": `key-${id}` } },
      );
    expect((await ask("Hello.")).id).toBe((await ask("Hello.")).id);
    await expect(ask("Something else.")).rejects.toMatchObject({
      code: "idempotency_mismatch",
    });
    expect(await runsOf(worker, id)).toHaveLength(1);
  });

  test("continues the trace of its caller", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: SAMPLE_COMPONENT });
    const trace = "0af7651916cd43dd8448eb211c80319c";
    await openai.chat.completions.create(
      { model, messages: [user("Hello.")] },
      { headers: { traceparent: `00-${trace}-b7ad6b7169203331-01` } },
    );
    const [run] = await runsOf(worker, id);
    const shown = await worker.fetch(`/v1/teams/${id}/runs/${run?.id}/trace`);
    expect(await shown.json()).toMatchObject({ trace_id: trace });
  });

  test("continues when the client leaves", async () => {
    const { worker, openai, model: fake } = stage;
    await newTeam(worker, { id, component: writer() });
    fake.rules.hold("slow");
    const stream = await openai.chat.completions.create({
      model,
      messages: [user("Write slowly.")],
      stream: true,
    });
    for await (const _ of stream) break;
    await expect(
      openai.chat.completions.create({ model, messages: [user("Now.")] }),
    ).rejects.toMatchObject({ status: 409, code: "team_busy" });
    fake.release("slow");
    await expect
      .poll(async () => (await runsOf(worker, id)).map(({ status }) => status))
      .toEqual(["completed"]);
  });
});

describe("tools of the client", () => {
  const messages: OpenAI.ChatCompletionMessageParam[] = [user("Where am I?")];

  test("are called, and answered in the next request", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: inTurn(writer()) });
    const tools = [locate];
    const asked = await openai.chat.completions.create({ model, messages, tools });
    const [choice] = asked.choices;
    expect(choice).toMatchObject({
      finish_reason: "tool_calls",
      message: {
        content: null,
        tool_calls: [
          { type: "function", function: { name: "locate", arguments: '{"precise":false}' } },
        ],
      },
    });
    expect(await teamOf(worker, id)).toMatchObject({ status: "waiting" });
    const call = choice!.message.tool_calls![0]!;
    const next: OpenAI.ChatCompletionMessageParam[] = [
      ...messages,
      choice!.message,
      { role: "tool", tool_call_id: call.id, content: "Vienna" },
    ];
    const answered = await openai.chat.completions.create({ model, messages: next, tools });
    expect(answered.choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { content: "You are in Vienna." },
    });
    expect(answered.id).not.toBe(asked.id);
    // The same request once more is not a second answer.
    const again = await openai.chat.completions.create({ model, messages: next, tools });
    expect(again.choices[0]?.message.content).toBe("You are in Vienna.");
    expect(await runsOf(worker, id)).toHaveLength(1);
  });

  test("get integers beyond 2^53 as the model wrote them", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: writer() });
    const args = '{"precise":true,"device":9007199254740993}';
    const asked = await openai.chat.completions.create({
      model,
      messages: [user("Where is my phone?")],
      tools: [locate],
    });
    expect(asked.choices[0]?.message.tool_calls).toMatchObject([{ function: { arguments: args } }]);
    await newTeam(worker, { id: `${id}-responses`, component: writer() });
    const { output } = await openai.responses.create({
      model: `${model}-responses`,
      input: "Where is my phone?",
      tools: [{ type: "function", ...LOCATE, strict: false }],
    });
    expect(output).toMatchObject([{ type: "function_call", arguments: args }]);
  });

  test("are run by the client's own helper", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: writer() });
    const runner = openai.chat.completions.runTools({
      model,
      stream: true,
      messages: [user("Where am I?")],
      tools: [
        {
          type: "function",
          function: { ...LOCATE, parse: JSON.parse, function: async () => "Vienna" },
        },
      ],
    });
    expect(await runner.finalContent()).toBe("You are in Vienna.");
    const contents = runner.messages.map(({ role, content }) => [role, content]);
    expect(contents).toEqual([
      ["user", "Where am I?"],
      ["assistant", "Let me see."],
      ["tool", "Vienna"],
      ["assistant", "You are in Vienna."],
    ]);
    expect(await runsOf(worker, id)).toHaveLength(1);
  });

  test("are called several at once, and the run continues when all are answered", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: writer() });
    const tools = [locate];
    const both = [user("Both of us.")];
    const stream = openai.chat.completions.stream({ model, messages: both, tools });
    const { message, finish_reason } = (await stream.finalChatCompletion()).choices[0]!;
    expect(finish_reason).toBe("tool_calls");
    const calls = message.tool_calls ?? [];
    expect(calls.map((call) => "function" in call && call.function.arguments)).toEqual([
      '{"precise":false}',
      '{"precise":true}',
    ]);
    const answers = calls.map((call, index) => ({
      role: "tool" as const,
      tool_call_id: call.id,
      content: `Place ${index}`,
    }));
    const first = await openai.chat.completions.create({
      model,
      messages: [...both, message, answers[0]!],
      tools,
    });
    expect(first.choices[0]?.message.tool_calls).toMatchObject([{ id: calls[1]!.id }]);
    const last = await openai.chat.completions.create({
      model,
      messages: [...both, message, ...answers],
      tools,
    });
    expect(last.choices[0]?.message.content).toBe("You are in Vienna.");
  });

  test("that are not answered keep the run waiting, unless it is to be replaced", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: writer() });
    await openai.chat.completions.create({ model, messages, tools: [locate] });
    const request = { model, messages: [user("Write.")] };
    await expect(openai.chat.completions.create(request)).rejects.toMatchObject({
      status: 409,
      code: "run_waiting",
      message: expect.stringContaining("locate"),
    });
    const replaced = await openai.chat.completions.create({
      ...request,
      troupe: { on_conflict: "interrupt" },
    } as OpenAI.ChatCompletionCreateParamsNonStreaming);
    expect(replaced.choices[0]?.message.content).toBe("Four little words here.");
  });
});

describe("a human in the middle of a completion", () => {
  test("gets a question in the answer, after the earlier messages, and answers with a message", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: inTurn(writer(), HUMAN) });
    const asked = await openai.chat.completions.create({ model, messages: [user("Ask.")] });
    expect(asked).toMatchObject({
      choices: [
        {
          finish_reason: "stop",
          message: { content: "Four little words here.\n\nWhich city?" },
        },
      ],
      troupe: { requests: [{ kind: "input", source: "human", prompt: "Which city?" }] },
    });
    const stream = openai.chat.completions.stream({
      model,
      messages: [user("Ask."), assistant("Which city?"), user("Lisbon")],
    });
    expect(await stream.finalContent()).toBe("Lisbon");
    expect(await runsOf(worker, id)).toMatchObject([{ status: "completed" }]);
  });

  test("approves with troupe.answers", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: careful() });
    const asked = await openai.chat.completions.create({ model, messages: [user("Go.")] });
    const { requests } = (asked as unknown as { troupe: { requests: { id: string }[] } }).troupe;
    expect(requests).toMatchObject([{ kind: "approval", tool_call: { name: "calculator" } }]);
    const next = { model, messages: [user("Go."), assistant("?"), user("Yes.")] };
    await expect(openai.chat.completions.create(next)).rejects.toMatchObject({
      code: "run_waiting",
    });
    const approved = await openai.chat.completions.create({
      model,
      messages: [user("Go."), assistant("?")],
      troupe: { answers: { [requests[0]!.id]: { approved: true } } },
    } as OpenAI.ChatCompletionCreateParamsNonStreaming);
    expect(approved.choices[0]?.message.content).toBe("42");
  });
});

describe("a run that does not complete", () => {
  test("fails with the model's error, which the client does not try again", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: writer() });
    const messages = [user("Fail.")];
    const patient = openai.withOptions({ maxRetries: 2 });
    await expect(patient.chat.completions.create({ model, messages })).rejects.toMatchObject({
      status: 400,
      type: "invalid_request_error",
      code: "model_bad_request",
    });
    const stream = await openai.chat.completions.create({ model, messages, stream: true });
    await expect(all(stream)).rejects.toMatchObject({ code: expect.stringMatching(/^model_/) });
    expect(await runsOf(worker, id)).toHaveLength(2);
  });

  test("that uses too many tokens ends with the reason length", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: inTurn(writer(), writer({ name: "other" })) });
    const ended = await openai.chat.completions.create({
      model,
      messages: [user("Write.")],
      troupe: { max_total_tokens: 1 },
    } as OpenAI.ChatCompletionCreateParamsNonStreaming);
    expect(ended).toMatchObject({
      choices: [{ finish_reason: "length" }],
      troupe: { error_code: "token_limit" },
    });
  });

  test("reports that it was cancelled or paused", async () => {
    const { worker, openai, model: fake } = stage;
    await newTeam(worker, { id, component: inTurn(writer({ name: "first" }), writer()) });
    for (const action of ["pause", "stop"]) {
      fake.rules.hold("slow");
      const request = { model, messages: [user("Write slowly.")], stream: true as const };
      const stream = await openai.chat.completions.create(request);
      const ended = all(stream).catch((error: unknown) => error);
      const [run] = await runsOf(worker, id);
      const body = action === "stop" ? { mode: "now" } : {};
      const path = `/v1/teams/${id}/runs/${run?.id}/`;
      await (await worker.fetch(path + action, jsonInit(body))).text();
      fake.release("slow");
      const code = action === "stop" ? "run_cancelled" : "run_paused";
      expect(await ended).toMatchObject({ code });
      await (await worker.fetch(`${path}stop`, jsonInit({ mode: "now" }))).text();
    }
  });
});

describe("a template as a model", () => {
  test("makes a team for the request from its messages", async () => {
    const { worker, openai } = stage;
    const { data } = await openai.models.list();
    const template = data.find((one) => one.id === "template:tools_assistant");
    expect(template).toMatchObject({ object: "model", owned_by: "troupe" });
    const completion = await openai.chat.completions.create({
      model: template!.id,
      messages: [
        { role: "system", content: "Be brief." },
        user("Hello."),
        assistant("Hello, who are you?"),
        user("Somebody."),
      ],
    });
    const { team_id } = (completion as unknown as { troupe: { team_id: string } }).troupe;
    const [run] = await runsOf(worker, team_id);
    expect(run?.task.map(({ source, content }) => [source, content])).toEqual([
      ["system", "Be brief."],
      ["user", "Hello."],
      ["assistant", "Hello, who are you?"],
      ["user", "Somebody."],
    ]);
    expect(completion.choices[0]?.message.content).toBe("Four little words here.");
  });
});
