// Outputs of the client's tools that are more than a text, as Agents for Python and LangChain send them.
import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newTeam, writer } from "../support/teams.ts";
import { LOCATE, type Stage, startStage } from "./support/stage.ts";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const URL_OF_PIXEL = `data:image/png;base64,${PIXEL}`;
const NOTE = "data:text/plain;base64,VGhlIG5vdGUu";

let stage: Stage;

beforeAll(async () => {
  stage = await startStage();
});

afterAll(() => stage[Symbol.asyncDispose]());

/** The pictures in the latest request to the model. */
function picturesShown(): unknown[] {
  const { messages } = stage.model.log.requests.at(-1)!.body as {
    messages: { content: unknown }[];
  };
  return messages
    .flatMap(({ content }) => (Array.isArray(content) ? content : []))
    .filter(({ type }: { type: string }) => type === "image_url");
}

describe("a responses request", () => {
  const tools = [{ type: "function" as const, ...LOCATE, strict: false }];

  const answered = async (team: string, output: object[]) => {
    const { openai, worker } = stage;
    await newTeam(worker, { id: team, component: writer() });
    const asked = await openai.responses.create({
      model: `team:${team}`,
      tools,
      input: "Where am I?",
    });
    const call = asked.output.find((item) => item.type === "function_call");
    return openai.responses.create({
      model: `team:${team}`,
      tools,
      previous_response_id: asked.id,
      input: [
        {
          type: "function_call_output",
          call_id: call!.call_id,
          output: output as OpenAI.Responses.ResponseFunctionCallOutputItem[],
        },
      ],
    });
  };

  test("shows the model the picture that a tool returned", async () => {
    await answered("responses-picture", [
      { type: "input_text", text: "A picture:" },
      { type: "input_image", image_url: URL_OF_PIXEL, detail: "auto" },
    ]);
    expect(picturesShown()).toMatchObject([{ image_url: { url: URL_OF_PIXEL } }]);
  });

  test.each([
    ["file", { type: "input_file", filename: "note.txt", file_data: NOTE }],
    ["url", { type: "input_image", image_url: "https://example.com/cat.png" }],
  ])("refuses other outputs (%s)", async (name, part) => {
    await expect(answered(`responses-${name}`, [part])).rejects.toMatchObject({
      status: 400,
      param: "input[0].output[0]",
      message: expect.stringContaining("must be a text, or an image as a data: URL"),
    });
  });
});

test("a chat completion shows the model the picture that a tool returned", async () => {
  const { openai, worker } = stage;
  await newTeam(worker, { id: "chat-picture", component: writer() });
  const model = "team:chat-picture";
  const tools = [{ type: "function" as const, function: LOCATE }];
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Where am I?" }];
  const asked = await openai.chat.completions.create({ model, tools, messages });
  const { message } = asked.choices[0]!;
  const output = {
    role: "tool",
    tool_call_id: message.tool_calls![0]!.id,
    content: [{ type: "image_url", image_url: { url: URL_OF_PIXEL } }],
  } as unknown as OpenAI.ChatCompletionToolMessageParam;
  await openai.chat.completions.create({ model, tools, messages: [...messages, message, output] });
  expect(picturesShown()).toMatchObject([{ image_url: { url: URL_OF_PIXEL } }]);
});
