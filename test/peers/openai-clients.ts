export { createOpenAI } from "@ai-sdk/openai";
export { Agent as MastraAgent } from "@mastra/core/agent";
export { createTool as mastraTool } from "@mastra/core/tools";
export { ChatOpenAI } from "@langchain/openai";
export { Agent, Runner, setTracingDisabled, tool } from "@openai/agents-core";
export {
  OpenAIChatCompletionsModel,
  OpenAIProvider,
  OpenAIResponsesModel,
  OpenAIResponsesWSModel,
} from "@openai/agents-openai";
// The copy of the SDK whose type Agents takes.
export { default as OpenAI, APIError } from "openai";
export { APICallError, generateText, Output, streamText, tool as aiTool } from "ai";
export { tool as langChainTool } from "@langchain/core/tools";
export { MemorySaver } from "@langchain/langgraph";
export { createReactAgent } from "@langchain/langgraph/prebuilt";
