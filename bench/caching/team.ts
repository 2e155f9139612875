import {
  AnthropicChatCompletionClient,
  AssistantAgent,
  FunctionTool,
  OpenAIChatCompletionClient,
  run,
} from "troupe";
import * as z from "zod";
import { RESULT, serveConversations, SYSTEM, TOOLS } from "./conversation.ts";

await serveConversations(({ baseURL, model, caches }) => {
  const cache = caches ? "auto" : "off";
  const modelClient = model.startsWith("claude-")
    ? new AnthropicChatCompletionClient({ model, baseURL, cache, apiKey: "bench" })
    : new OpenAIChatCompletionClient({ model, baseURL, cache, apiKey: "bench" });
  const tools = TOOLS.map(
    (tool) =>
      new FunctionTool({
        ...tool,
        parameters: z.object({ query: z.string() }),
        execute: () => RESULT,
      }),
  );
  const agent = new AssistantAgent({
    name: "helper",
    modelClient,
    tools,
    systemMessage: SYSTEM,
    reflectOnToolUse: true,
  });
  return (text) => run(agent, { task: text });
});
