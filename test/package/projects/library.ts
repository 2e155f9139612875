// Compiled in a project that has the package installed: with all strictness, and with the declarations checked, too.
import {
  AssistantAgent,
  FunctionTool,
  type Message,
  ReplayChatCompletionClient,
  RoundRobinGroupChat,
  run,
} from "troupe";
import { ApiError, TroupeClient } from "troupe/client";
import { type RunInfo, runSchema, type StreamFrame } from "troupe/schemas";
import { ScriptedChatCompletionClient } from "troupe/testing";
import * as z from "zod";

const tool = new FunctionTool({
  name: "length",
  description: "The length of a text.",
  parameters: z.object({ text: z.string() }),
  execute: ({ text }) => text.length,
  policy: "retry",
});
const agent = new AssistantAgent({
  name: "writer",
  modelClient: new ReplayChatCompletionClient(["A story."]),
  tools: [tool],
});

export async function tell(): Promise<Message[]> {
  const team = new RoundRobinGroupChat([agent], { maxTurns: 1 });
  const { messages } = await run(team, { task: "Tell a story." });
  return messages;
}

export async function ask(): Promise<string | null> {
  const client = new TroupeClient({ baseURL: "http://127.0.0.1:8787" });
  try {
    const team = await client.teams.create({ template: "writer_critic" });
    for await (const item of team.run("Go.")) {
      if (item.kind === "message" && item.message.type === "TextMessage") {
        return item.message.content;
      }
    }
    return null;
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

export function statusOf(value: unknown): RunInfo["status"] {
  return runSchema.parse(value).status;
}

export function textOf(frame: StreamFrame): string | undefined {
  return frame.event === "snapshot" ? frame.data.content : undefined;
}

// @ts-expect-error -- the compiler knows the options
export const misspelled = new TroupeClient({ baseUrl: "http://127.0.0.1:8787" });
const modelClient = new ScriptedChatCompletionClient([]);
// @ts-expect-error -- and that a name is text
export const unnamed = new AssistantAgent({ name: 1, modelClient });
