import OpenAI from "openai";
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions";
import { message, SYSTEM } from "./peer.ts";
import { serve } from "./serve.ts";

await serve(async ({ baseURL, model, stream, history, context }) => {
  const client = new OpenAI({ baseURL, apiKey: "bench", maxRetries: 0 });
  const messages: ChatCompletionMessageParam[] = [];
  for (let index = 0; index < history; index++) messages.push(message(index));
  const system = { role: "system", content: SYSTEM } as const;
  return async (content) => {
    messages.push({ role: "user", content });
    const request = {
      model,
      messages: [system, ...messages.slice(context === null ? 0 : -context)],
    };
    let reply = "";
    if (stream) {
      const chunks = await client.chat.completions.create({
        ...request,
        stream: true,
        stream_options: { include_usage: true },
      });
      for await (const chunk of chunks) reply += chunk.choices[0]?.delta.content ?? "";
    } else {
      const completion = await client.chat.completions.create(request);
      reply = completion.choices[0]?.message.content ?? "";
    }
    messages.push({ role: "assistant", content: reply });
  };
});
