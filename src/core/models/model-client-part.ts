import type { Stateful } from "../state/stateful.ts";
import type { ChatCompletionClient } from "./chat-completion-client.ts";

/** The state of a model client as a part of its owner's state, if it has any (the position of the replay client). */
export function modelClientPart(client: ChatCompletionClient): { model_client?: Stateful } {
  return isStateful(client) ? { model_client: client } : {};
}

function isStateful(value: object): value is Stateful {
  return "stateParts" in value;
}
