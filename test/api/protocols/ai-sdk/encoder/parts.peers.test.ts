import { describe, expect, test } from "vitest";
import type { HumanRequest } from "#contract/run.ts";
import type { StreamFrame } from "#contract/stream/stream-frame.ts";
import { answersIn } from "#api/protocols/ai-sdk/answers.ts";
import { parseChat } from "#api/protocols/ai-sdk/chat-request.ts";
import { makeChatEncoder } from "#api/protocols/ai-sdk/encoder/encoder.ts";
import type { ChatStreamOptions } from "#api/protocols/ai-sdk/encoder/format.ts";
import { madeUpMessage } from "../../support/made-up-messages.ts";
import { RunSimulator } from "../../support/run-simulator.ts";
import { APPROVING, parse, read } from "../support/sdks.ts";
import type { UIMessage } from "../../../../peers/ai-sdk.ts";

const TIME = "2026-11-23T04:00:00.000Z";

const CODE: HumanRequest = {
  id: "question",
  kind: "approval",
  source: "coder",
  prompt: "May I run this?",
  code: "```python\nprint(1)\n```",
  context: { messages: [], truncated: false },
  created_at: TIME,
  expires_at: null,
};

const said = (source: string, type: string, text: string, id = `of-${source}`): StreamFrame => ({
  event: "message",
  id: "1",
  data: madeUpMessage(id, source, type, text, TIME),
});
const piece = (source: string, text: string): StreamFrame => ({
  event: "message",
  data: madeUpMessage("piece", source, "ModelClientStreamingChunkEvent", text, TIME, {
    full_message_id: `of-${source}`,
  }),
});

/** The stream of a run from its beginning. */
function opened(...frames: StreamFrame[]): StreamFrame[] {
  return [
    { event: "run", data: new RunSimulator(false).info },
    { event: "caught_up", data: {} },
    ...frames,
  ];
}

function changed(status: "running" | "waiting", requests: HumanRequest[] = []): StreamFrame {
  return { event: "run", data: { ...new RunSimulator(false).info, status, requests } };
}

function encode(frames: StreamFrame[], options: ChatStreamOptions = { part: "new" }): string {
  const encoder = makeChatEncoder({ ...options });
  return frames.map((frame) => (encoder.ended ? "" : encoder.encode(frame))).join("");
}

// Version 5 knows no approvals, which any run may ask for.
describe.each(APPROVING)("the parts of a message in %s", (name) => {
  const shown = async (text: string, before?: UIMessage): Promise<UIMessage> => {
    const { message, errors } = await read(name, await parse(name, text), before);
    expect(errors).toEqual([]);
    return message!;
  };

  test.each([
    [true, { state: "output-available", output: { approved: true } }],
    [false, { state: "output-denied" }],
  ])("code to be approved is a call (%s)", async (approved, settled) => {
    const asked = await shown(
      encode(opened(changed("running", [CODE]), changed("waiting", [CODE]))),
    );
    expect(asked.parts).toMatchObject([
      { type: "step-start" },
      {
        type: "dynamic-tool",
        toolName: "approve",
        state: "approval-requested",
        input: { prompt: CODE.prompt, code: CODE.code },
        approval: { id: "question", descriptor: { source: "coder", prompt: CODE.prompt } },
      },
    ]);
    const parts = asked.parts.map((part) =>
      part.type === "dynamic-tool" && part.state === "approval-requested"
        ? { ...part, state: "approval-responded", approval: { ...part.approval, approved } }
        : part,
    );
    const replied = { ...asked, parts } as UIMessage;
    const body = { id: "chat", messages: [replied] };
    const { answers, options } = answersIn(parseChat(body).message, [CODE]);
    expect(answers).toEqual([{ request: "question", answer: { approved } }]);
    const rest: StreamFrame[] = [
      changed("waiting", [CODE]),
      { event: "caught_up", data: {} },
      changed("running"),
      said("coder", "TextMessage", "As you like."),
    ];
    expect((await shown(encode(rest, options), replied)).parts).toMatchObject([
      { type: "step-start" },
      { toolName: "approve", ...settled },
      { type: "step-start" },
      { type: "text", text: "As you like." },
    ]);
  });

  test("an approval that another client gave leaves no open call", async () => {
    const { parts } = await shown(encode(opened(changed("running", [CODE]), changed("running"))));
    expect(parts[1]).toMatchObject({
      toolName: "approve",
      state: "output-available",
      output: null,
    });
  });

  test("agents that speak at the same time share a step", async () => {
    const { parts } = await shown(
      encode(
        opened(
          piece("writer", "One "),
          piece("critic", "Another "),
          piece("writer", "text."),
          said("writer", "TextMessage", "One text."),
          said("critic", "TextMessage", "Another text."),
          said("end", "TextMessage", "Done."),
        ),
      ),
    );
    const texts = parts.map((part) => (part.type === "text" ? part.text : part.type));
    expect(texts).toEqual(["step-start", "One text.", "Another text.", "step-start", "Done."]);
  });

  test("images are files at their position", async () => {
    const { parts } = await shown(encode(opened(said("painter", "MultiModalMessage", "Look."))));
    expect(parts).toMatchObject([
      { type: "step-start" },
      { type: "text", text: "Look." },
      {
        type: "file",
        mediaType: "image/png",
        url: expect.stringMatching(/^data:image\/png;base64,/),
      },
    ]);
  });

  test("events stay where they describe an action", async () => {
    const { parts } = await shown(
      encode(
        opened(
          said("team", "SelectSpeakerEvent", "", "e1"),
          said("coder", "CodeExecutionEvent", "1", "e2"),
          said("cloud", "WeatherEvent", "Rain.", "e3"),
          said("coder", "Poem", "Roses", "e4"),
          { event: "retract", id: "9", data: { message_ids: ["e4"] } },
        ),
      ),
    );
    expect(parts.filter(({ type }) => type.startsWith("data-"))).toMatchObject([
      { type: "data-event", data: { type: "CodeExecutionEvent" } },
      { type: "data-event", data: { type: "WeatherEvent", forecast: ["rain"] } },
      { type: "data-output", data: { type: "Poem", content: { verses: ["Roses"] } } },
      { type: "data-retract", data: { messages: ["e4"] } },
    ]);
  });

  test("a streamed text that was a thought is not shown twice", async () => {
    const { parts } = await shown(
      encode(opened(piece("writer", "Hm."), said("writer", "ThoughtEvent", "Hm."))),
    );
    expect(parts).toMatchObject([
      { type: "step-start" },
      { type: "text", text: "Hm.", state: "done", providerMetadata: { troupe: { thought: true } } },
    ]);
  });

  test.each([
    ["in pieces", ["<thi", "nk>\nHm, ", "well.</th", "ink>\n", "Se", "ven."]],
    ["at once", ["<think>Hm, well.</think>Seven."]],
  ])("the reasoning of a model is not a text, and its answer comes once: %s", async (_, texts) => {
    const text = encode(
      opened(
        ...texts.map((one) => piece("writer", one)),
        said("writer", "ThoughtEvent", "Hm, well.", "of-writer"),
        said("writer", "TextMessage", "Seven.", "answer"),
      ),
    );
    expect(text).not.toContain("data-retry");
    const { parts } = await shown(text);
    expect(parts).toMatchObject([
      { type: "step-start" },
      { type: "reasoning", text: "Hm, well.", state: "done" },
      {
        type: "text",
        text: "Seven.",
        state: "done",
        providerMetadata: { troupe: { source: "writer", message: "answer" } },
      },
    ]);
  });

  test("an answer behind reasoning that differs from its message does not count", async () => {
    const { parts } = await shown(
      encode(
        opened(
          piece("writer", "<think>Hm.</think>Six"),
          said("writer", "ThoughtEvent", "Hm.", "of-writer"),
          said("writer", "TextMessage", "Seven.", "answer"),
        ),
      ),
    );
    expect(parts).toMatchObject([
      { type: "step-start" },
      { type: "reasoning", text: "Hm." },
      { type: "text", text: "Six", providerMetadata: { troupe: { void: true } } },
      { type: "text", text: "Seven.", providerMetadata: { troupe: { message: "answer" } } },
    ]);
  });

  test("reasoning that broke off does not count, and calls behind it are shown", async () => {
    const { parts } = await shown(
      encode(
        opened(
          piece("writer", "<think>Hm"),
          {
            event: "discard",
            data: { source: "writer", full_message_id: "of-writer" },
          },
          piece("writer", "<think>Well.</think>"),
          said("writer", "ThoughtEvent", "Well.", "of-writer"),
        ),
      ),
    );
    expect(parts).toMatchObject([
      { type: "step-start" },
      { type: "reasoning", text: "Hm", providerMetadata: { troupe: { void: true } } },
      { type: "reasoning", text: "Well.", state: "done" },
    ]);
  });
});
