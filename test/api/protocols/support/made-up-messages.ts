import type { JsonObject } from "#core/json.ts";
import type { Message } from "troupe";

/** A picture of one pixel. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A message of any type. @param fields replace those made of the text */
export function madeUpMessage(
  id: string,
  source: string,
  type: string,
  text: string,
  created_at: string,
  fields: JsonObject | { content: readonly object[] } = {},
): Message {
  return {
    id,
    source,
    models_usage: { prompt_tokens: 3, completion_tokens: 2 },
    metadata: {},
    created_at,
    ...fieldsOf(type, text),
    ...fields,
    type,
  } as unknown as Message;
}

function fieldsOf(type: string, text: string): JsonObject {
  switch (type) {
    case "HandoffMessage":
      return { content: text, target: "critic", context: [] };
    case "ToolCallSummaryMessage": {
      const call = { id: "call_1", name: "search", arguments: "{}" };
      const result = { call_id: "call_1", name: "search", content: text, is_error: false };
      return { content: text, tool_calls: [call], results: [result] };
    }
    case "MultiModalMessage":
      return { content: [text, { data: PIXEL }] };
    case "StructuredMessage[Report]":
      return { content: { city: text, grade: 1 }, format_string: text === "" ? null : "{city}!" };
    case "Poem":
      return { content: { verses: [text] }, metre: "iamb" };
    case "WeatherEvent":
      return { content: text, forecast: ["rain"] };
    case "MemoryQueryEvent":
      return { content: [{ content: text, mime_type: "text/plain", metadata: null }] };
    case "SelectSpeakerEvent":
      return { content: ["writer", "critic"] };
    case "CodeGenerationEvent":
      return {
        content: text,
        retry_attempt: 0,
        code_blocks: [{ code: "print(1)", language: "python" }],
      };
    case "CodeExecutionEvent":
      return { retry_attempt: 0, result: { exit_code: 0, output: text } };
    default:
      return { content: text };
  }
}
