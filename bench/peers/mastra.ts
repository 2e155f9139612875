import { Agent } from "@mastra/core/agent";
import { message, SYSTEM } from "../conversation/peer.ts";
import { serve } from "../conversation/serve.ts";

await serve(async ({ baseURL, model, stream, history, context }) => {
  const agent = new Agent({
    id: "assistant",
    name: "assistant",
    instructions: SYSTEM,
    model: { id: `bench/${model}`, url: baseURL, apiKey: "bench" },
    maxRetries: 0,
  });
  const messages: ReturnType<typeof message>[] = [];
  for (let index = 0; index < history; index++) messages.push(message(index));
  return async (text) => {
    messages.push({ role: "user", content: text });
    const seen = (context === null ? messages : messages.slice(-context)) as Parameters<
      Agent["generate"]
    >[0];
    let content = "";
    if (stream) {
      const { textStream } = await agent.stream(seen);
      for await (const piece of textStream) content += piece;
    } else {
      ({ text: content } = await agent.generate(seen));
    }
    if (content === "") throw new Error("the reply is empty");
    messages.push({ role: "assistant", content });
  };
});
