import { imageAsText } from "../models/shown-images.ts";
import type { ToolResult } from "./tool.ts";

/** Bytes of UTF-8 in a tool's result text; the rest is truncated, with a note. */
export const MAX_RESULT_BYTES = 1_000_000;

/** A result of one text, truncated when too long: never refused, because the tool has had its effect. */
export function textResult(
  name: string,
  text: string,
  isError: boolean,
  maxBytes = MAX_RESULT_BYTES,
): ToolResult {
  return {
    type: "ToolResult",
    name,
    result: [{ type: "TextResultContent", content: cut(text, maxBytes) }],
    is_error: isError,
  };
}

/** A result as text for the model (AutoGen `ToolResult.to_text`). */
export function resultText(result: ToolResult): string {
  const parts = result.result.map((part) =>
    part.type === "TextResultContent" ? part.content : imageAsText(part.content),
  );
  return parts.join("\n");
}

function cut(text: string, maxBytes: number): string {
  // A UTF-16 unit takes at most three bytes, so most texts need no encoding.
  if (text.length * 3 <= maxBytes) return text;
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= maxBytes) return text;
  // A stream leaves out the beginning of a character whose other bytes are cut off.
  const kept = new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: true });
  return `${kept}\n[Cut: the result had ${bytes.length} bytes, ${maxBytes} are shown.]`;
}
