import type { InputItem } from "./input-items.ts";

/** Responses that were stored, by account and id. https://developers.openai.com/api/docs/guides/conversation-state */
const stored = new Map<string, readonly InputItem[]>();

/** The conversation up to the end of a stored response; undefined when there is none. */
export function storedConversation(key: string, id: string): readonly InputItem[] | undefined {
  return stored.get(`${key} ${id}`);
}

export function storeConversation(key: string, id: string, items: readonly InputItem[]): void {
  stored.set(`${key} ${id}`, items);
}
