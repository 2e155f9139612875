import {
  AssistantAgent,
  type ChatCompletionClient,
  type ComponentModel,
  FunctionTool,
  type JsonObject,
  UserProxyAgent,
  withApproval,
} from "troupe";
import * as z from "zod";
import { ScriptedChatCompletionClient } from "troupe/testing";

/** A model as component JSON that gives these answers, one after the other. */
export function model(...answers: (string | JsonObject)[]): ComponentModel & JsonObject {
  return { provider: "ReplayChatCompletionClient", config: { chat_completions: answers } };
}

/** An agent as component JSON that gives these answers. */
export function agent(...answers: string[]): ComponentModel & JsonObject {
  return {
    provider: "AssistantAgent",
    config: { name: "agent", system_message: "Answer.", model_client: model(...answers) },
  };
}

/** An agent that asks a person for a text and passes it on. */
export function asking(): UserProxyAgent {
  return new UserProxyAgent({ name: "person", prompt: "Which day?" });
}

/** An agent that refunds what it is asked to, if a person approves. */
export function refunding(...orders: number[]): AssistantAgent {
  const refund = new FunctionTool({
    name: "refund",
    description: "Refunds an order.",
    parameters: z.object({ order: z.number() }),
    execute: ({ order }) => `refunded ${order}`,
  });
  const calls = orders.map((order, index) => ({
    id: String(index),
    name: "refund",
    arguments: JSON.stringify({ order }),
  }));
  return new AssistantAgent({
    name: "desk",
    modelClient: scripted(calls),
    tools: [withApproval(refund)],
  });
}

export function scripted(
  ...replies: ConstructorParameters<typeof ScriptedChatCompletionClient>[0]
): ChatCompletionClient {
  return new ScriptedChatCompletionClient(replies);
}
