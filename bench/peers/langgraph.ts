import { AIMessage, HumanMessage, SystemMessage } from "@langchain/core/messages";
import { END, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { message, SYSTEM } from "../conversation/peer.ts";
import { serve } from "../conversation/serve.ts";
import { sqliteSaver } from "./sqlite-saver.ts";

// A graph of one node that asks the model. The argument is a file for its state; without it, the state is in memory.

const [file] = process.argv.slice(2);
const checkpointer = file === undefined ? new MemorySaver() : sqliteSaver(file);

await serve(async ({ baseURL, model: name, stream, history, context }) => {
  const model = new ChatOpenAI({
    model: name,
    apiKey: "bench",
    configuration: { baseURL },
    streaming: stream,
    maxRetries: 0,
  });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("assistant", async ({ messages }) => {
      const seen = context === null ? messages : messages.slice(-context);
      return { messages: [await model.invoke([new SystemMessage(SYSTEM), ...seen])] };
    })
    .addEdge(START, "assistant")
    .addEdge("assistant", END)
    .compile({ checkpointer });
  const config = { configurable: { thread_id: crypto.randomUUID() } };
  if (history > 0) {
    const messages = Array.from({ length: history }, (_, index) => {
      const { role, content } = message(index);
      return role === "user" ? new HumanMessage(content) : new AIMessage(content);
    });
    await graph.updateState(config, { messages }, "assistant");
  }
  return async (text) => {
    const input = { messages: [new HumanMessage(text)] };
    if (!stream) {
      await graph.invoke(input, config);
      return;
    }
    let reply = "";
    for await (const [piece] of await graph.stream(input, { ...config, streamMode: "messages" })) {
      reply += piece.text;
    }
    if (reply === "") throw new Error("the reply is empty");
  };
});
