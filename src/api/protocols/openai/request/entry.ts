import type { JsonObject } from "../../../../core/json.ts";
import type { FunctionCall } from "../../../../core/models/llm-messages.ts";

/** An entry of a request in either of OpenAI's protocols: an earlier answer, or something new. */
export type InputEntry =
  | { type: "message"; source: string; content: Content; answer: boolean }
  /** Calls of the client's tools, in an earlier answer. */
  | { type: "calls"; calls: readonly FunctionCall[] }
  | { type: "output"; id: string; content: string }
  | { type: "approval"; id: string; approved: boolean; reason: string | undefined }
  /** Something else of an earlier answer. */
  | { type: "other_answer" };

/** A text, or texts, images and files as in a `MultiModalMessage` of a request. */
export type Content = string | (string | JsonObject)[];

/** Entries without empty answers, which programs send where the next answer is to appear. */
export function withoutEmptyAnswers(entries: readonly InputEntry[]): InputEntry[] {
  return entries.filter(
    (entry) => entry.type !== "message" || !entry.answer || textIn(entry).trim() !== "",
  );
}

/** The answer at the end of a request, which its client wants to be continued. */
export function openAnswer(entries: readonly InputEntry[]): string | undefined {
  const last = entries.at(-1);
  return last?.type === "message" && last.answer ? textIn(last) : undefined;
}

function textIn({ content }: InputEntry & { type: "message" }): string {
  if (typeof content === "string") return content;
  return content.map((part) => (typeof part === "string" ? part : "<part>")).join("\n");
}

/** The entries after the last answer. */
export function sinceAnswer(entries: readonly InputEntry[]): InputEntry[] {
  const last = entries.findLastIndex(
    (entry) =>
      entry.type === "calls" ||
      entry.type === "other_answer" ||
      (entry.type === "message" && entry.answer),
  );
  return entries.slice(last + 1);
}

/** Entries as the messages of a task. Calls and their outputs are summaries of calls. */
export function taskOf(entries: readonly InputEntry[]): JsonObject[] {
  const task: JsonObject[] = [];
  let calls: readonly FunctionCall[] = [];
  let outputs: (InputEntry & { type: "output" })[] = [];
  const summarize = (): void => {
    if (outputs.length > 0) task.push(summaryOf(calls, outputs));
    outputs = [];
  };
  for (const entry of entries) {
    if (entry.type === "output") {
      outputs.push(entry);
      continue;
    }
    summarize();
    if (entry.type === "calls") calls = entry.calls;
    if (entry.type === "message") task.push(messageOf(entry));
  }
  summarize();
  return task;
}

/** A message of a task or an answer. */
export function messageOf({ source, content }: InputEntry & { type: "message" }): JsonObject {
  return typeof content === "string"
    ? { type: "TextMessage", source, content }
    : { type: "MultiModalMessage", source, content };
}

function summaryOf(
  calls: readonly FunctionCall[],
  outputs: readonly (InputEntry & { type: "output" })[],
): JsonObject {
  const answered = calls.filter(({ id }) => outputs.some((output) => output.id === id));
  return {
    type: "ToolCallSummaryMessage",
    source: "assistant",
    content: outputs.map(({ content }) => content).join("\n"),
    tool_calls: answered.map((call) => ({ ...call })),
    results: outputs.map(({ id, content }) => ({
      content,
      name: calls.find((call) => call.id === id)?.name ?? "tool",
      call_id: id,
      is_error: false,
    })),
  };
}
