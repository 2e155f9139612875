import {
  Agent,
  type AgentInputItem,
  assistant,
  OpenAIChatCompletionsModel,
  Runner,
  user,
} from "@openai/agents";
import OpenAI from "openai";
import { message, SYSTEM } from "../conversation/peer.ts";
import { serve } from "../conversation/serve.ts";

await serve(async ({ baseURL, model, stream, history, context }) => {
  const client = new OpenAI({ baseURL, apiKey: "bench", maxRetries: 0 });
  const agent = new Agent({
    name: "assistant",
    instructions: SYSTEM,
    model: new OpenAIChatCompletionsModel(client, model),
  });
  // Traces would go to OpenAI.
  const runner = new Runner({ tracingDisabled: true });
  let items: AgentInputItem[] = [];
  for (let index = 0; index < history; index++) {
    const { role, content } = message(index);
    items.push(role === "user" ? user(content) : assistant(content));
  }
  return async (text) => {
    const seen = [...items, user(text)].slice(context === null ? 0 : -context);
    if (stream) {
      const result = await runner.run(agent, seen, { stream: true });
      let reply = "";
      for await (const piece of result.toTextStream()) reply += piece;
      await result.completed;
      if (reply === "") throw new Error("the reply is empty");
      items = result.history;
    } else {
      items = (await runner.run(agent, seen)).history;
    }
  };
});
