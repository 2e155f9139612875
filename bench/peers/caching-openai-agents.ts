import {
  Agent,
  type AgentInputItem,
  OpenAIResponsesModel,
  Runner,
  tool,
  user,
} from "@openai/agents";
import OpenAI from "openai";
import * as z from "zod";
import { RESULT, serveConversations, SYSTEM, TOOLS } from "../caching/conversation.ts";

await serveConversations(({ baseURL, model }) => {
  const client = new OpenAI({ baseURL, apiKey: "bench", maxRetries: 0 });
  const agent = new Agent({
    name: "assistant",
    instructions: SYSTEM,
    model: new OpenAIResponsesModel(client, model),
    tools: TOOLS.map((one) =>
      tool({
        ...one,
        parameters: z.object({ query: z.string() }),
        execute: () => Promise.resolve(RESULT),
      }),
    ),
  });
  // Traces would go to OpenAI.
  const runner = new Runner({ tracingDisabled: true });
  let items: AgentInputItem[] = [];
  return async (text) => {
    items = (await runner.run(agent, [...items, user(text)])).history;
  };
});
