import { createOpenAI } from "@ai-sdk/openai";
import { generateText, type ModelMessage, streamText } from "ai";
import { message, SYSTEM } from "../conversation/peer.ts";
import { serve } from "../conversation/serve.ts";

await serve(async ({ baseURL, model: name, stream, history, context }) => {
  const model = createOpenAI({ baseURL, apiKey: "bench" }).chat(name);
  const messages: ModelMessage[] = [];
  for (let index = 0; index < history; index++) messages.push(message(index));
  return async (text) => {
    messages.push({ role: "user", content: text });
    const seen = context === null ? messages : messages.slice(-context);
    const request = { model, system: SYSTEM, messages: seen, maxRetries: 0 };
    if (stream) {
      const result = streamText(request);
      let reply = "";
      for await (const piece of result.textStream) reply += piece;
      if (reply === "") throw new Error("the reply is empty");
      messages.push(...(await result.response).messages);
    } else {
      messages.push(...(await generateText(request)).response.messages);
    }
  };
});
