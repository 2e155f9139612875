import { createOpenAI } from "@ai-sdk/openai";
import { generateText, type ModelMessage, stepCountIs, tool } from "ai";
import * as z from "zod";
import { RESULT, serveConversations, SYSTEM, TOOLS } from "../caching/conversation.ts";

await serveConversations(({ baseURL, model: name }) => {
  const model = createOpenAI({ baseURL, apiKey: "bench" }).chat(name);
  const tools = Object.fromEntries(
    TOOLS.map(({ name: toolName, description }) => [
      toolName,
      tool({
        description,
        inputSchema: z.object({ query: z.string() }),
        execute: () => Promise.resolve(RESULT),
      }),
    ]),
  );
  const messages: ModelMessage[] = [];
  return async (text) => {
    messages.push({ role: "user", content: text });
    const request = { model, system: SYSTEM, messages, tools, stopWhen: stepCountIs(3) };
    messages.push(...(await generateText(request)).response.messages);
  };
});
