import type { Message, TeamState } from "troupe/client";

type Of<Type extends Message["type"]> = Extract<Message, { type: Type }>;
type Call = Of<"ToolCallRequestEvent">["content"][number];
type Result = Of<"ToolCallExecutionEvent">["content"][number];

export interface ToolCall {
  call: Call;
  /** Undefined while the tool works, or when its result was not recorded. */
  result: Result | undefined;
}

/** A part of the conversation as it is shown. `key` stays the same when a text in progress becomes a message. */
export type Entry =
  | { kind: "message"; key: string; message: Message; continues: boolean }
  | { kind: "tools"; key: string; message: Message; calls: readonly ToolCall[] }
  | { kind: "text"; key: string; source: string; content: string; continues: boolean };

/** Messages as they are shown: a tool call with its result, without events that something else on the page shows. */
export function entriesOf(messages: TeamState["messages"]): Entry[] {
  const results = new Map<string, Result>();
  const called = new Set<string>();
  for (const message of messages) {
    if (message.type === "ToolCallExecutionEvent") {
      for (const result of message.content) results.set(result.call_id, result);
    } else if (message.type === "ToolCallRequestEvent") {
      for (const call of message.content) called.add(call.id);
    }
  }
  const entries: Entry[] = [];
  let last = "";
  for (const message of messages) {
    const { id: key, type, source } = message;
    if (type === "UserInputRequestedEvent" || type === "ModelClientStreamingChunkEvent") continue;
    if (type === "ToolCallRequestEvent") {
      const calls = message.content.map((call) => ({ call, result: results.get(call.id) }));
      entries.push({ kind: "tools", key, message, calls });
    } else if (type === "ToolCallExecutionEvent") {
      const orphans = message.content.filter(({ call_id }) => !called.has(call_id));
      const calls = orphans.map((result) => ({
        call: { id: result.call_id, name: result.name, arguments: "" },
        result,
      }));
      if (calls.length > 0) entries.push({ kind: "tools", key, message, calls });
    } else {
      entries.push({ kind: "message", key, message, continues: last === source });
    }
    last = source;
  }
  return entries;
}

/** The entries and, after them, the texts in progress. */
export function withTexts(entries: readonly Entry[], texts: TeamState["texts"]): Entry[] {
  const all = [...entries];
  const before = entries.at(-1);
  let last = before === undefined ? "" : sourceOf(before);
  for (const { id: key, source, content } of texts) {
    all.push({ kind: "text", key, source, content, continues: last === source });
    last = source;
  }
  return all;
}

function sourceOf(entry: Entry): string {
  return entry.kind === "text" ? entry.source : entry.message.source;
}
