import {
  AssistantAgent,
  dumpComponent,
  MaxMessageTermination,
  ReplayChatCompletionClient,
  Swarm,
} from "troupe";
import { type TeamClient, TroupeClient } from "troupe/client";
import * as z from "zod";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { TestWorker } from "../../../support/worker.ts";
import { APPROVING, SDK_NAMES } from "./support/sdks.ts";
import {
  ABILITIES,
  agent,
  asking,
  calls,
  type Component,
  human,
  inTurn,
  PIXEL,
  TOOLS,
} from "./support/teams.ts";
import { type ChatOptions, newChat, textsOf } from "./support/test-chat.ts";

let worker: TestWorker;
let client: TroupeClient;
let team: TeamClient;
let count = 0;

beforeAll(async () => {
  worker = await TestWorker.start();
  client = new TroupeClient({ baseURL: await worker.origin });
});
afterAll(() => worker[Symbol.asyncDispose]());
beforeEach(() => {
  count++;
});

describe.each(SDK_NAMES)("the chat of %s", (name) => {
  const api = async () => `${await worker.origin}/ai-sdk/teams/${team.id}/chat`;
  async function chatWith(component: Component, options: ChatOptions = {}) {
    team = await client.teams.create({ id: `team-${count}`, component });
    return newChat(name, await api(), { id: "my chat/1", ...options });
  }

  test("streams the messages of several agents as steps of one message", async () => {
    const team_ = inTurn(agent("writer", ["I write."]), agent("critic", ["I criticize."]));
    const chat = await chatWith(team_);
    await chat.sendMessage({ text: "Hello." });
    expect(chat.error).toBeUndefined();
    expect(chat.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    const [run] = (await team.runs()).runs;
    const metadata = { ai_sdk: { chat: "my chat/1", message: chat.messages[0]!.id } };
    expect(run).toMatchObject({ status: "completed", metadata });
    const { prompt_tokens: inputTokens, completion_tokens: outputTokens } = run!.usage;
    expect(chat.last).toEqual({
      id: run!.id,
      role: "assistant",
      metadata: {
        run: {
          id: run!.id,
          team_id: team.id,
          status: "completed",
          queue_position: null,
          retry_of: null,
          stop_reason: run!.stop_reason,
        },
        usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
      },
      parts: ["writer", "critic"].flatMap((source, index) => [
        { type: "step-start" },
        {
          type: "text",
          text: ["I write.", "I criticize."][index],
          state: "done",
          providerMetadata: { troupe: { source, message: expect.any(String) } },
        },
      ]),
    });
  });

  test("shows thoughts and parallel calls with their results, and sends nothing again", async () => {
    const thinks = calls(
      "Two things at once.",
      ["calculator", { expression: "6 * 7" }],
      ["calculator", { expression: "six" }],
      ["nothing", {}],
    );
    const called: string[] = [];
    const chat = await chatWith(
      inTurn(agent("clerk", [thinks, "It is 42."], { tools: TOOLS, reflect: true })),
      { automatic: true, onToolCall: ({ toolCall }) => void called.push(toolCall.toolName) },
    );
    await chat.sendMessage({ text: "Calculate." });
    expect(chat.last.parts).toMatchObject([
      { type: "step-start" },
      { type: "reasoning", text: "Two things at once.", state: "done" },
      {
        type: "dynamic-tool",
        toolName: "calculator",
        toolCallId: "call-0",
        state: "output-available",
        input: { expression: "6 * 7" },
        output: "42",
        providerExecuted: true,
      },
      { type: "dynamic-tool", toolCallId: "call-1", state: "output-error" },
      { type: "dynamic-tool", toolName: "nothing", toolCallId: "call-2", state: "output-error" },
      { type: "step-start" },
      { type: "text", text: "It is 42." },
    ]);
    expect(chat.requests).toHaveLength(1);
    // Tools of the team are none of the client's business.
    expect(called).toEqual([]);
  });

  test("asks the user in the middle, and the next message is the answer", async () => {
    const chat = await chatWith(
      inTurn(agent("guide", ["Where to?", "Where else?"]), human(), agent("end", ["Bye."])),
    );
    await chat.sendMessage({ text: "Hello." });
    const [run] = (await team.runs()).runs;
    expect(run!.status).toBe("waiting");
    expect(chat.status).toBe("ready");
    expect(chat.last.metadata).toMatchObject({ run: { status: "waiting" } });
    expect(chat.last.parts.at(-1)).toMatchObject({
      type: "data-question",
      id: run!.requests[0]!.id,
      data: { id: run!.requests[0]!.id, source: "human", prompt: expect.any(String) },
    });
    await chat.sendMessage({ text: "To Lisbon." });
    expect(chat.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
    expect(new Set(chat.messages.map(({ id }) => id)).size).toBe(4);
    expect(textsOf(chat.last)).toEqual(["Bye."]);
    const { result } = await team.getRun(run!.id);
    expect(result?.messages.map((one) => "content" in one && one.content)).toContain("To Lisbon.");
    // The next message is a new task.
    await chat.sendMessage({ text: "Once more." });
    expect(textsOf(chat.last)).toEqual(["Where else?"]);
    expect((await team.runs()).runs).toHaveLength(2);
  });

  test("makes the calls of its own tools", async () => {
    const component = inTurn(
      agent(
        "guide",
        [
          calls(
            undefined,
            ["locate", { precise: true }],
            ["calculator", { expression: "6 * 7" }],
            ["locate", {}],
          ),
          "You are in Graz.",
        ],
        { tools: TOOLS },
      ),
    );
    const tools = [
      { name: "locate", description: "Where the user is.", parameters: { type: "object" } },
    ];
    const chat = await chatWith(component, {
      automatic: true,
      body: { tools },
      onToolCall: ({ toolCall: { toolCallId, toolName, input } }) => {
        const output = { city: "Graz", given: input };
        void (toolCallId === "call-0"
          ? chat.addToolOutput({ tool: toolName, toolCallId, output })
          : chat.addToolOutput({
              tool: toolName,
              toolCallId,
              state: "output-error",
              errorText: "No signal.",
            }));
      },
    });
    await chat.sendMessage({ text: "Where am I?" });
    await expect.poll(() => textsOf(chat.last)).toEqual(["You are in Graz."]);
    await expect.poll(() => chat.status).toBe("ready");
    expect(chat.last.parts.slice(1)).toMatchObject([
      {
        toolName: "locate",
        state: "output-available",
        output: { city: "Graz", given: { precise: true } },
        providerExecuted: false,
      },
      { toolName: "calculator", state: "output-available", output: "42" },
      { toolName: "locate", state: "output-error", errorText: "No signal." },
      { type: "step-start" },
      { type: "text" },
    ]);
    expect(chat.requests.map(({ status }) => status)).toEqual([200, 200]);
    const [run] = (await team.runs()).runs;
    const { result } = await team.getRun(run!.id);
    const results = result?.messages.find(({ type }) => type === "ToolCallExecutionEvent");
    expect(results).toMatchObject({
      content: [
        { content: '{"city":"Graz","given":{"precise":true}}', is_error: false },
        { content: "42" },
        { content: "No signal.", is_error: true },
      ],
    });
  });

  test("shows structured output, handoffs and images in their own forms", async () => {
    const writer = new AssistantAgent({
      name: "writer",
      modelClient: new ReplayChatCompletionClient(['{"city":"Graz"}'], { modelInfo: ABILITIES }),
      outputContentType: z.object({ city: z.string() }),
    });
    const leader = agent("leader", [calls(undefined, ["transfer_to_writer", {}])], {
      handoffs: ["writer"],
    });
    const component = dumpComponent(
      new Swarm([leader, writer], { terminationCondition: new MaxMessageTermination(3) }),
    );
    const chat = await chatWith(component);
    await chat.sendMessage({ text: "Where?" });
    expect(chat.error).toBeUndefined();
    expect(chat.last.parts.filter(({ type }) => type.startsWith("data-"))).toMatchObject([
      { type: "data-handoff", data: { source: "leader", target: "writer" } },
      { type: "data-output", data: { source: "writer", content: { city: "Graz" } } },
    ]);
    expect(textsOf(chat.last).at(-1)).toContain("Graz");
  });

  test("accepts images and refuses other files", async () => {
    const chat = await chatWith(inTurn(agent("painter", ["Nice.", "Nice."])));
    const image = {
      type: "file",
      mediaType: "image/png",
      url: `data:image/png;base64,${PIXEL}`,
    } as const;
    await chat.sendMessage({ text: "Look.", files: [image] });
    const [run] = (await team.runs()).runs;
    expect(run!.task).toMatchObject([
      { type: "MultiModalMessage", source: "user", content: [{ data: PIXEL }, "Look."] },
    ]);
    for (const [url, why] of [
      ["data:text/plain;base64,SGk=", /messages\[\d\].parts\[0\].url: is not a PNG/],
      ["blob:a", /messages\[\d\].parts\[0\].url: must be an https: URL, or a data: URL/],
      ["https://10.0.0.1/a.png", /private address/],
    ] as const) {
      await chat.sendMessage({ text: "Look.", files: [{ ...image, url }] });
      expect(chat.error?.message).toContain("invalid_task");
      expect(chat.error?.message).toMatch(why);
    }
  });
});

// Version 5 knows no approvals.
describe.each(APPROVING)("the chat of %s", (name) => {
  const api = async () => `${await worker.origin}/ai-sdk/teams/${team.id}/chat`;
  async function chatWith(component: Component, options: ChatOptions = {}) {
    team = await client.teams.create({ id: `team-${count}`, component });
    return newChat(name, await api(), { id: "my chat/1", ...options });
  }

  test.each([true, false])("asks for approval, and continues by itself (%s)", async (approved) => {
    const component = asking(
      inTurn(
        agent(
          "clerk",
          [
            calls(
              undefined,
              ["calculator", { expression: "6 * 7" }],
              ["calculator", { expression: "7 * 7" }],
              ["current_time", { time_zone: "UTC" }],
            ),
            "Done.",
          ],
          { tools: TOOLS, reflect: true },
        ),
      ),
      "calculator",
    );
    const chat = await chatWith(component, { automatic: true });
    await chat.sendMessage({ text: "Calculate." });
    const [run] = (await team.runs()).runs;
    expect(run!.requests).toHaveLength(2);
    expect(chat.last.parts.slice(1)).toMatchObject([
      ...run!.requests.map(({ id, prompt, source }, index) => ({
        type: "dynamic-tool",
        toolCallId: `call-${index}`,
        state: "approval-requested",
        approval: { id, descriptor: { prompt, source, expires_at: null } },
      })),
      // It has run; its result comes with the others.
      { toolCallId: "call-2", state: "output-available", output: null },
    ]);
    const before = chat.last.id;
    await chat.addToolApprovalResponse({ id: run!.requests[0]!.id, approved, reason: "I say so." });
    await chat.addToolApprovalResponse({ id: run!.requests[1]!.id, approved: true });
    await expect.poll(() => textsOf(chat.last)).toEqual(["Done."]);
    await expect.poll(() => chat.status).toBe("ready");
    expect(chat.error).toBeUndefined();
    expect(chat.last.id).toBe(before);
    expect(chat.last.parts.slice(1)).toMatchObject([
      approved ? { state: "output-available", output: "42" } : { state: "output-denied" },
      { state: "output-available", output: "49" },
      { state: "output-available", output: expect.stringContaining("UTC") },
      { type: "step-start" },
      { type: "text" },
    ]);
    expect(chat.requests.map(({ status }) => status)).toEqual([200, 200]);
    expect((await team.runs()).runs).toMatchObject([{ status: "completed" }]);
  });
});
