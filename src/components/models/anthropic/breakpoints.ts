import { type JsonObject, parseJson } from "../../../core/json.ts";

// Claude's servers keep the beginning of a prompt for the next one, up to the blocks that a request marks. At most four
// may be marked; a read looks back 20 blocks from each (https://platform.claude.com/docs/en/build-with-claude/prompt-caching).

const MARK = { type: "ephemeral" } as const;

const MOST_MARKS = 4;
/**
 * Blocks between two marks of the conversation, fewer than the look-back: an answer may bring several blocks at once.
 */
const APART = 15;

/**
 * The system messages as the request's `system`, marked after the first one, which stays the same, and after the last, because
 * memories may add to them. The first mark covers the tools, too.
 */
export function markedSystem(texts: readonly string[]): JsonObject[] {
  const last = texts.length - 1;
  return texts.map((text, index) => ({
    type: "text",
    text,
    ...((index === 0 || index === last) && { cache_control: MARK }),
  }));
}

/** The tools of a request without system messages, marked after the last one. */
export function markedTools(tools: readonly JsonObject[]): JsonObject[] {
  return tools.map((tool, index) =>
    index === tools.length - 1 ? { ...tool, cache_control: MARK } : tool,
  );
}

/**
 * Marks the end of the conversation, and places before it where the look-back from the next mark ends.
 *
 * @param written the elements of the request's `messages`, as JSON
 * @param used marks that tools and system messages have
 * @returns the same elements, some of them marked
 */
export function markedHistory(written: readonly string[], used: number): string[] {
  const marked = [...written];
  let left = MOST_MARKS - used;
  let blocks = APART;
  for (let index = written.length - 1; index >= 0 && left > 0; index--) {
    const element = written[index] ?? "";
    if (blocks < APART) {
      blocks += blockCount(element);
      continue;
    }
    const message = markedElement(element);
    if (message === undefined) continue;
    marked[index] = message;
    left--;
    blocks = blockCount(element);
  }
  return marked;
}

/** Undefined where the last block cannot be marked: thinking cannot. */
function markedElement(element: string): string | undefined {
  const { role, content } = parseJson(element) as { role: string; content: string | JsonObject[] };
  const blocks: JsonObject[] =
    typeof content === "string" ? [{ type: "text", text: content }] : content;
  const last = blocks.at(-1);
  const type = last?.["type"];
  if (type === undefined || type === "thinking" || type === "redacted_thinking") return undefined;
  const marked = [...blocks.slice(0, -1), { ...last, cache_control: MARK }];
  return JSON.stringify({ role, content: marked });
}

/** Blocks of an element, from its text: a long conversation is not parsed for each request. */
function blockCount(element: string): number {
  return element.split('{"type":"').length - 1 || 1;
}
