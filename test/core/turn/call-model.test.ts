import { describe, expect, test } from "vitest";
import { ReplayChatCompletionClient, callModel, streamModel } from "troupe";
import type { LLMMessage, TurnContext } from "troupe";
import { RecordingHost } from "../support/recording-host.ts";

const asked = (content: string): LLMMessage[] => [{ content, source: "u", type: "UserMessage" }];
const client = (): ReplayChatCompletionClient => new ReplayChatCompletionClient(["a", "b c", "d"]);

async function streamed(ctx: TurnContext, model: ReplayChatCompletionClient): Promise<unknown[]> {
  const stream = streamModel(ctx, "model:1", model, asked("x"), { messageId: "m" });
  const seen: unknown[] = [];
  for (let next = await stream.next(); ; next = await stream.next()) {
    seen.push(next.done ? next.value.content : next.value);
    if (next.done) return seen;
  }
}

describe("callModel and streamModel", () => {
  test("use recorded results, and move the replay client on", async () => {
    const journal = new RecordingHost();
    const first = client();
    const before = journal.attempt();
    expect((await callModel(before, "model:0", first, asked("x"))).content).toBe("a");
    expect(await streamed(before, first)).toEqual(["b ", "c", "b c"]);

    const restarted = client();
    const again = journal.attempt();
    expect((await callModel(again, "model:0", restarted, asked("x"))).content).toBe("a");
    expect(await streamed(again, restarted)).toEqual(["b c"]);
    expect((await callModel(again, "model:2", restarted, asked("x"))).content).toBe("d");
  });

  test.each([
    ["the messages", asked("y"), {}],
    ["the number of messages", [...asked("x"), ...asked("x")], {}],
    ["the tools", asked("x"), { tools: [{ name: "f" }] }],
    ["the choice of tools", asked("x"), { toolChoice: "none" }],
    ["the output asked for", asked("x"), { jsonOutput: true }],
    ["the extra arguments", asked("x"), { extraCreateArgs: { temperature: 0 } }],
  ] as const)("call again when %s differs from the recording", async (_, messages, options) => {
    const journal = new RecordingHost();
    const model = client();
    await callModel(journal.attempt(), "model:0", model, asked("x"));
    const again = await callModel(journal.attempt(), "model:0", model, messages, options);
    expect(again.content).toBe("b c");
  });

  test("see the same request in equal messages of another start", async () => {
    const journal = new RecordingHost();
    const model = client();
    await callModel(journal.attempt(), "model:0", model, asked("x"), { toolChoice: "auto" });
    const again = await callModel(journal.attempt(), "model:0", model, structuredClone(asked("x")));
    expect(again.content).toBe("a");
  });
});
