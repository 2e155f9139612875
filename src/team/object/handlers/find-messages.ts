import { beginningOf, endOf } from "../../../core/cut.ts";
import {
  type FoundMessages,
  type MessageSearch,
  MOST_SEARCHED_MESSAGES,
} from "../../../contract/team/found-messages.ts";
import type { Json } from "../../../core/json.ts";
import { searchText } from "../../../core/memory/memory-content.ts";
import type { EventLog } from "../../storage/log/event-log.ts";

/** Messages are read in pages of at most this number. */
const PAGE = 200;
/** Characters of an excerpt, and of what stands before the found text. */
const EXCERPT = 200;
const BEFORE = 60;

/** The messages whose text contains `q`, the latest first. Reads a bounded number of messages, so that a long conversation takes several calls. */
export function findMessages(
  log: EventLog,
  { q, before, limit, most = MOST_SEARCHED_MESSAGES }: MessageSearch,
): FoundMessages {
  const wanted = q.toLowerCase();
  const messages: FoundMessages["messages"] = [];
  let place = before ?? Number.MAX_SAFE_INTEGER;
  for (let read = 0; read < most;) {
    const page = log.messages({ before: place, limit: PAGE });
    if (page.length === 0) return { messages, searched_to: null };
    for (const { seq, turn, ...message } of page.toReversed()) {
      place = seq;
      read++;
      const text = shownText("content" in message ? message.content : message.result.output);
      const at = text.toLowerCase().indexOf(wanted);
      if (at < 0) continue;
      const { type, source } = message;
      const start = Math.max(0, at - BEFORE);
      const excerpt = beginningOf(endOf(text, text.length - start), EXCERPT);
      messages.push({ seq, turn, type, source, excerpt });
      if (messages.length === limit) return { messages, searched_to: place };
    }
  }
  return { messages, searched_to: place };
}

/** The words of a message, without the data of images and files. */
function shownText(content: Json): string {
  if (!Array.isArray(content)) return searchText(content);
  return content
    .map((part) =>
      typeof part === "object" && part !== null && "data" in part ? "" : searchText(part),
    )
    .join("\n");
}
