import { describe, expect, test } from "vitest";
import { chunkEvents, createMessage, printStream } from "troupe";
import type { Message, TaskResult, UserInputRequestedEvent } from "troupe";
import { ORIGIN, text } from "../support/agents.ts";

async function* streamOf(...items: (Message | TaskResult)[]) {
  yield* await Promise.resolve(items);
}

async function printed(items: (Message | TaskResult)[], stats = false): Promise<string> {
  let output = "";
  await printStream(streamOf(...items), {
    write: (piece) => {
      output += piece;
    },
    stats,
  });
  return output;
}

const result: TaskResult = { type: "TaskResult", messages: [], stop_reason: "done" };

describe("printStream", () => {
  test("prints each message under a header and returns the result", async () => {
    expect(await printed([text("user", "go", ORIGIN), text("ann", "well", ORIGIN), result])).toBe(
      "---------- TextMessage (user) ----------\ngo\n---------- TextMessage (ann) ----------\nwell\n",
    );
    expect(await printStream(streamOf(result), { write: () => {} })).toBe(result);
  });

  test("prints streamed text as it comes, and not again as a message", async () => {
    const message = text("ann", "a b", ORIGIN);
    const chunk = chunkEvents(ORIGIN, "ann", message.id);
    expect(
      await printed([chunk("a "), chunk("b"), message, text("bob", "c", ORIGIN), result]),
    ).toBe(
      "---------- ModelClientStreamingChunkEvent (ann) ----------\na b\n---------- TextMessage (bob) ----------\nc\n",
    );
  });

  test("separates texts that stream side by side", async () => {
    const [ann, bob] = [text("ann", "aa", ORIGIN), text("bob", "bb", ORIGIN)];
    const [a, b] = [chunkEvents(ORIGIN, "ann", ann.id), chunkEvents(ORIGIN, "bob", bob.id)];
    const output = await printed([a("a"), b("b"), a("a"), ann, b("b"), bob, result]);
    expect(output.split("\n").filter((line) => !line.startsWith("-"))).toEqual([
      "a",
      "b",
      "a",
      "b",
      "",
    ]);
  });

  test("leaves out requests for input", async () => {
    const request = createMessage<UserInputRequestedEvent>(ORIGIN, {
      type: "UserInputRequestedEvent",
      source: "user",
      request_id: "r",
      content: "",
    });
    expect(await printed([request, result])).toBe("");
  });

  test("shows tokens and a summary when asked", async () => {
    const usage = { prompt_tokens: 3, completion_tokens: 1 };
    const output = await printed(
      [{ ...text("ann", "x", ORIGIN), models_usage: usage }, result],
      true,
    );
    expect(output).toContain("x\n[Prompt tokens: 3, completion tokens: 1]\n");
    expect(output).toMatch(
      /Messages: 0\nStop reason: done\nPrompt tokens: 3\nCompletion tokens: 1\n/,
    );
  });

  test("refuses a stream without a result", async () => {
    await expect(printed([text("user", "go", ORIGIN)])).rejects.toMatchObject({
      code: "no_result",
    });
  });
});
