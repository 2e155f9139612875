import type { JsonObject } from "../core/json.ts";
import type { ChatMessage } from "../core/messages/message.ts";
import { toText } from "../core/messages/views.ts";
import { imageMediaType } from "../core/models/images.ts";

/** Messages as the parts of one. Of several, each text begins with who said it. */
export function partsOf(messages: readonly ChatMessage[]): JsonObject[] {
  if (messages.length === 0) return [{ text: "Continue." }];
  return messages.flatMap((message) => {
    const by = messages.length === 1 ? "" : `${message.source}: `;
    if (message.type === "MultiModalMessage") {
      return message.content.map((part, index): JsonObject =>
        typeof part === "string"
          ? { text: index === 0 ? by + part : part }
          : { raw: part.data, mediaType: imageMediaType(part.data) ?? "image/png" },
      );
    }
    return [{ text: by + toText(message) }];
  });
}
