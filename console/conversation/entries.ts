import type { Message, TeamState } from "troupe/client";
import type { EndedRun } from "./use-ended-runs.ts";

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
  | {
      kind: "message";
      key: string;
      message: Message;
      continues: boolean;
      /** Whether it says what code has printed. */
      printed: boolean;
    }
  | { kind: "tools"; key: string; message: Message; calls: readonly ToolCall[] }
  | { kind: "text"; key: string; source: string; content: string; continues: boolean }
  | { kind: "end"; key: string; end: EndedRun };

/** The tool of AutoGen's `PythonCodeExecutionTool`. */
const CODE_TOOL = "CodeExecutor";

/** Messages as they are shown: a tool call with its result, without events that something else on the page shows. */
export function entriesOf(
  messages: TeamState["messages"],
  printers: ReadonlySet<string> = new Set(),
): Entry[] {
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
  /** Agents whose last tool calls ran code. */
  const ranCode = new Set<string>();
  let last = "";
  for (const message of messages) {
    const { id: key, type, source } = message;
    if (type === "UserInputRequestedEvent" || type === "ModelClientStreamingChunkEvent") continue;
    if (type === "ToolCallRequestEvent") {
      const calls = message.content.map((call) => ({ call, result: results.get(call.id) }));
      entries.push({ kind: "tools", key, message, calls });
    } else if (type === "ToolCallExecutionEvent") {
      if (message.content.every(({ name }) => name === CODE_TOOL)) ranCode.add(source);
      else ranCode.delete(source);
      const orphans = message.content.filter(({ call_id }) => !called.has(call_id));
      const calls = orphans.map((result) => ({
        call: { id: result.call_id, name: result.name, arguments: "" },
        result,
      }));
      if (calls.length > 0) entries.push({ kind: "tools", key, message, calls });
    } else {
      const printed =
        (type === "TextMessage" && printers.has(source)) ||
        (type === "ToolCallSummaryMessage" && ranCode.has(source));
      entries.push({ kind: "message", key, message, continues: last === source, printed });
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

/** The entries with a mark after each run that has failed or was cancelled. */
export function withEnds(entries: readonly Entry[], ends: readonly EndedRun[]): Entry[] {
  if (ends.length === 0) return [...entries];
  const marked = [...entries];
  for (const end of ends) {
    const at = placeOf(marked, end);
    if (at !== undefined) marked.splice(at, 0, { kind: "end", key: `end ${end.run.id}`, end });
  }
  return marked;
}

/** The index of a run's end: before the next run's task or, where that is not known, by its time. Undefined if earlier pages have to be loaded. */
function placeOf(entries: readonly Entry[], { run, next, retried }: EndedRun): number | undefined {
  if (next === undefined) return entries.length;
  const [task] = retried ? [] : ((next.task ?? []) as { id?: string }[]);
  const place = entries.findIndex(({ key }) => key === task?.id);
  if (place >= 0) return place;
  const ended = run.ended_at ?? "";
  const after = entries.findLastIndex(
    (entry) => "message" in entry && (entry.message.created_at ?? "") <= ended,
  );
  return after >= 0 ? after + 1 : undefined;
}

function sourceOf(entry: Entry): string {
  if (entry.kind === "end") return "";
  return entry.kind === "text" ? entry.source : entry.message.source;
}
