import type { ChatCompletionContext } from "troupe";
import { llmMessageSchema } from "#core/models/llm-messages.ts";
import type { World } from "../world.ts";
import { asJson, list, type Op } from "./op.ts";

const contextOf = (world: World): ChatCompletionContext => world.subject("chat_completion_context");

export const contextAdd: Op = (step, world) => {
  for (const item of list(step, "messages"))
    contextOf(world).addMessage(llmMessageSchema.parse(item));
  return {};
};

export const contextGet: Op = async (_step, world) => ({
  messages: asJson(await contextOf(world).getMessages()),
});

export const contextClear: Op = (_step, world) => {
  contextOf(world).clear();
  return {};
};
