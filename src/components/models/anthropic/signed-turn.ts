import * as z from "zod";
import { asJson, type JsonObject } from "../../../core/json.ts";
import type {
  AssistantMessage,
  FunctionCall,
  MakerData,
} from "../../../core/models/llm-messages.ts";

/** The owner of provider data, as messages name it. */
export const ANTHROPIC = "anthropic";

/** Signed thinking is sent back unchanged and in its place among the other blocks; a call is found by its id. */
const blockSchema = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("thinking"), thinking: z.string() }),
  z.looseObject({ type: z.literal("redacted_thinking"), data: z.string() }),
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("tool_use"), id: z.string() }),
]);
/** A block of an answer in the form kept for the next request. */
export type TurnBlock = z.infer<typeof blockSchema>;

const dataSchema = z.object({ blocks: z.array(blockSchema).min(1) });

const isThinking = ({ type }: TurnBlock): boolean =>
  type === "thinking" || type === "redacted_thinking";

/** The data of an answer to send back to the API; undefined for an answer without thinking. */
export function signedTurn(content: readonly JsonObject[], model: string): MakerData | undefined {
  const blocks = content.flatMap((block) => blockSchema.safeParse(block).data ?? []);
  const filled = blocks.filter((block) => block.type !== "text" || block.text.trim() !== "");
  if (!filled.some(isThinking)) return undefined;
  const calls = filled.some(({ type }) => type === "tool_use");
  // A text is the message's own content and follows the thinking.
  const kept = calls ? filled : filled.filter(isThinking);
  return { maker: ANTHROPIC, model, data: { blocks: asJson(kept) } };
}

/** The blocks of a message whose thinking this model has signed; undefined for any other. */
export function signedBlocks({ troupe }: AssistantMessage, model: string): TurnBlock[] | undefined {
  if (troupe?.maker !== ANTHROPIC || troupe.model !== model) return undefined;
  return dataSchema.safeParse(troupe.data).data?.blocks;
}

/**
 * The content of a message with its signed thinking.
 * @param write a call as a block
 */
export function signedContent(
  { content }: AssistantMessage,
  blocks: readonly TurnBlock[],
  write: (call: FunctionCall) => object,
): object[] {
  if (typeof content === "string")
    return [...blocks.filter(isThinking), { type: "text", text: content }];
  const left = new Map(content.map((call) => [call.id, write(call)]));
  const placed = blocks.flatMap((block) => {
    if (block.type !== "tool_use") return [block];
    const call = left.get(block.id);
    left.delete(block.id);
    return call === undefined ? [] : [call];
  });
  return [...placed, ...left.values()];
}
