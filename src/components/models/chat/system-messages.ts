import type { LLMMessage, SystemMessage, UserMessage } from "../../../core/models/llm-messages.ts";
import { withoutTrailingSpace } from "../../../core/text/python-space.ts";

/** The place at which a server takes system messages. */
export interface SystemPlace {
  /** Among the others, only before them, or in a field of their own. */
  at: "anywhere" | "beginning" | "field";
  /** True if it takes only one. */
  one: boolean;
}

/**
 * The conversation with its system messages where the server takes them. Those in a row are merged where the server takes only one.
 * Later ones, which would have to change the beginning, become messages of a user.
 */
export function placeSystemMessages(
  messages: readonly LLMMessage[],
  { at, one }: SystemPlace,
): readonly LLMMessage[] {
  if (at === "anywhere" && !one) return messages;
  if (!messages.some(isSystem)) return messages;
  const placed =
    at === "field"
      ? [...messages.filter(isSystem), ...messages.filter((message) => !isSystem(message))]
      : laterAsUser(messages, at === "beginning");
  return one ? mergeSystemMessages(placed) : placed;
}

const isSystem = (message: LLMMessage): message is SystemMessage =>
  message.type === "SystemMessage";

const asUser = new WeakMap<SystemMessage, UserMessage>();

function laterAsUser(messages: readonly LLMMessage[], atBeginning: boolean): LLMMessage[] {
  const start = atBeginning ? 0 : messages.findIndex(isSystem);
  const after = messages.findIndex((message, index) => index >= start && !isSystem(message));
  return messages.map((message, index) => {
    if (!isSystem(message) || after === -1 || index < after) return message;
    let user = asUser.get(message);
    if (user === undefined) {
      user = { type: "UserMessage", source: "system", content: message.content };
      asUser.set(message, user);
    }
    return user;
  });
}

/**
 * Merges the system messages, which stand in a row, for models that accept or heed only one. White space at its end is left out,
 * as in AutoGen, also where there is one message alone.
 */
function mergeSystemMessages(messages: readonly LLMMessage[]): readonly LLMMessage[] {
  const first = messages.findIndex(isSystem);
  const texts = messages.filter(isSystem).map(({ content }) => content);
  const content = withoutTrailingSpace(texts.join("\n"));
  if (texts.length <= 1 && content !== "" && content === texts[0]) return messages;
  const merged: LLMMessage[] = content === "" ? [] : [{ type: "SystemMessage", content }];
  return [
    ...messages.slice(0, Math.max(0, first)),
    ...merged,
    ...messages.slice(Math.max(0, first) + texts.length),
  ];
}
