// The graph that `langgraphjs dev` serves.

import { SystemMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";

const { BENCH_MODEL, BENCH_UPSTREAM, BENCH_SYSTEM } = process.env;

const model = new ChatOpenAI({
  model: BENCH_MODEL,
  apiKey: "bench",
  configuration: { baseURL: BENCH_UPSTREAM },
  streaming: true,
  maxRetries: 0,
});

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("assistant", async ({ messages }) => ({
    messages: [await model.invoke([new SystemMessage(BENCH_SYSTEM ?? ""), ...messages])],
  }))
  .addEdge(START, "assistant")
  .addEdge("assistant", END)
  .compile();
