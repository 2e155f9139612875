import type { Stateful } from "../state/stateful.ts";
import type { ChatCompletionClient } from "./chat-completion-client.ts";

/** The model client as a piece of its owner's stored state, where it has a position to keep (the replay client). */
export function modelClientPart(client: ChatCompletionClient): { model_client?: Stateful } {
  return isStateful(client) ? { model_client: client } : {};
}

function isStateful(value: object): value is Stateful {
  return "stateParts" in value;
}
