// Outputs of the client's tools that are more than a text, as Agents for Python, pydantic-ai and LangChain send them.
import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newTeam, writer } from "../../support/teams.ts";
import { LOCATE, runsOf, type Stage, startStage } from "../support/stage.ts";

type Output = OpenAI.Responses.ResponseFunctionCallOutputItem;
type Input = OpenAI.Responses.ResponseInputItem;

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PICTURE = `data:image/png;base64,${PIXEL}`;
const NOTE = "data:text/plain;base64,VGhlIG5vdGUu";
const PDF = `data:application/pdf;base64,${btoa("%PDF-1.4 not much of one")}`;
const SHOWN = { type: "image_url", image_url: { url: PICTURE } };

let stage: Stage;

beforeAll(async () => {
  stage = await startStage();
});

afterAll(() => stage[Symbol.asyncDispose]());

/** What the model reads of the output, in its latest request. */
function read(): { result: unknown; pictures: unknown[] } {
  const { messages } = stage.model.log.requests.at(-1)!.body as {
    messages: { role: string; content: unknown }[];
  };
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  return {
    result: messages.findLast(({ role }) => role === "tool")?.content,
    pictures: parts.filter(({ type }: { type: string }) => type === "image_url"),
  };
}

describe("the output of a tool in a responses request", () => {
  const tools = [{ type: "function" as const, ...LOCATE, strict: false }];

  const answer = async (team: string, output: string | Output[], ...beside: Input[]) => {
    const { openai, worker } = stage;
    const model = `team:${team}`;
    await newTeam(worker, { id: team, component: writer() });
    const asked = await openai.responses.create({ model, tools, input: "Where am I?" });
    const call = asked.output.find((item) => item.type === "function_call");
    const item = { type: "function_call_output" as const, call_id: call!.call_id, output };
    return openai.responses.create({
      model,
      tools,
      previous_response_id: asked.id,
      input: [item, ...beside],
    });
  };

  test("may have pictures and text files", async () => {
    await answer("parts", [
      { type: "input_text", text: "Two files:" },
      { type: "input_image", image_url: PICTURE, detail: "auto" },
      { type: "input_file", filename: "note.txt", file_data: NOTE },
    ]);
    const { result, pictures } = read();
    expect(result).toMatch(
      /^Two files:\n.*\n<file name="note.txt" type="text\/plain">\nThe note\./s,
    );
    expect(pictures).toMatchObject([SHOWN]);
  });

  test.each([
    ["pdf", { type: "input_file" as const, filename: "a.pdf", file_data: PDF }],
    ["url", { type: "input_image" as const, image_url: "https://example.com/cat.png" }],
  ])("is refused with other parts (%s)", async (name, part) => {
    await expect(answer(name, [part])).rejects.toMatchObject({
      status: 400,
      param: "input[0].output",
      message: expect.stringContaining("must be texts, images and text files, as data: URLs"),
    });
  });

  test("may have a message after it", async () => {
    const text = "Seen from the tower.";
    const content = [
      { type: "input_text" as const, text },
      { type: "input_image" as const, image_url: PICTURE, detail: "auto" as const },
    ];
    const answered = await answer("beside", "Vienna", { role: "user", content });
    const { result, pictures } = read();
    expect(result).toMatch(/^Vienna\n\nSeen from the tower\./);
    expect(pictures).toMatchObject([SHOWN]);
    expect(answered.conversation).toMatchObject({ id: "beside" });
  });

  test("is refused with a PDF after it", async () => {
    const file = { type: "input_file" as const, filename: "a.pdf", file_data: PDF };
    await expect(
      answer("pdf-beside", "Vienna", { role: "user", content: [file] }),
    ).rejects.toMatchObject({
      status: 400,
      param: "input",
      message: expect.stringContaining("beside outputs of tools must be texts, images"),
    });
  });
});

describe("the output of a tool in a chat completion", () => {
  const tools = [{ type: "function" as const, function: LOCATE }];

  const answer = async (
    team: string,
    content: unknown,
    ...beside: OpenAI.ChatCompletionMessageParam[]
  ) => {
    const { openai, worker } = stage;
    const model = `team:${team}`;
    await newTeam(worker, { id: team, component: writer() });
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: "user", content: "Where am I?" },
    ];
    const asked = await openai.chat.completions.create({ model, tools, messages });
    const { message } = asked.choices[0]!;
    const tool_call_id = message.tool_calls![0]!.id;
    const output = {
      role: "tool",
      tool_call_id,
      content,
    } as OpenAI.ChatCompletionToolMessageParam;
    await openai.chat.completions.create({
      model,
      tools,
      messages: [...messages, message, output, ...beside],
    });
  };

  test("may have pictures", async () => {
    await answer("chat-parts", [{ type: "text", text: "Here:" }, SHOWN]);
    expect(read()).toMatchObject({ result: expect.stringMatching(/^Here:/), pictures: [SHOWN] });
  });

  test("may have a message after it", async () => {
    await answer(
      "chat-beside",
      "See the file a4f1.",
      { role: "user", content: "This is file a4f1:" },
      { role: "user", content: [{ type: "image_url", image_url: { url: PICTURE } }] },
    );
    const { result, pictures } = read();
    expect(result).toMatch(/^See the file a4f1\.\n\nThis is file a4f1:\n\n/);
    expect(pictures).toMatchObject([SHOWN]);
  });

  test("may come for one call after the other, each with a message, as CrewAI sends them", async () => {
    const { openai, worker } = stage;
    const model = "team:chat-crew";
    await newTeam(worker, { id: "chat-crew", component: writer() });
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: "system", content: "You are a guide." },
      { role: "user", content: "Both of us." },
    ];
    const ask = async () =>
      (await openai.chat.completions.create({ model, tools, messages, tool_choice: "auto" }))
        .choices[0]!.message;
    const results: string[] = [];
    let said = await ask();
    while (said.tool_calls !== undefined && results.length < 3) {
      // Only the first of the calls is made, and only that one is in the next request.
      const [call] = said.tool_calls;
      results.push(`Place ${results.length}`);
      messages.push(
        { role: "assistant", content: null, tool_calls: [call!] },
        { role: "tool", tool_call_id: call!.id, content: results.at(-1)! },
        { role: "user", content: "Analyze the tool result." },
      );
      said = await ask();
    }
    expect([said.content, results]).toEqual(["You are in Vienna.", ["Place 0", "Place 1"]]);
    expect(read().result).toBe("Place 1\n\nAnalyze the tool result.");
    expect(await runsOf(worker, "chat-crew")).toMatchObject([{ status: "completed" }]);
  });
});
