import * as z from "zod";
import type { ChatRequest } from "../chat-request.ts";
import type { Completion } from "../completion.ts";
import { seal } from "../responses/sealing.ts";
import type { AnthropicRequest, Block, Message } from "./request.ts";

const display = z.enum(["summarized", "omitted"]).optional();

/** https://platform.claude.com/docs/en/build-with-claude/thinking#configuring-thinking */
export const thinkingSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("enabled"), budget_tokens: z.int().min(1024), display }),
  z.strictObject({ type: z.literal("adaptive"), display }),
  z.strictObject({ type: z.literal("between_tools") }),
  z.strictObject({ type: z.literal("disabled") }),
]);
type Thinking = z.infer<typeof thinkingSchema>;

const thinkingBlock = z.strictObject({
  type: z.literal("thinking"),
  thinking: z.string(),
  signature: z.string().min(1),
});
const redactedBlock = z.strictObject({ type: z.literal("redacted_thinking"), data: z.string() });
export const thinkingBlockSchemas = [thinkingBlock, redactedBlock] as const;
type ThinkingBlock = z.infer<typeof thinkingBlock> | z.infer<typeof redactedBlock>;

export const blocksOf = ({ content }: Message): Block[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;

/** Only the account and the model that made a block can verify it. */
const sign = (key: string, model: string, text: string): string => seal(`${key}/${model}`, text);

/** What is wrong with a request about thinking. */
export function thinkingProblem(request: AnthropicRequest, key: string): string | undefined {
  return forgedProblem(request, key) ?? settingsProblem(request);
}

/** https://platform.claude.com/docs/en/build-with-claude/extended-thinking#preserving-thinking-blocks */
function forgedProblem({ model, messages }: AnthropicRequest, key: string): string | undefined {
  for (const [at, message] of messages.entries())
    for (const [index, block] of blocksOf(message).entries()) {
      if (block.type === "thinking" && block.signature !== sign(key, model, block.thinking))
        return `messages.${at}.content.${index}: Invalid \`signature\` in \`thinking\` block`;
      if (block.type === "redacted_thinking" && block.data !== sign(key, model, "redacted"))
        return `messages.${at}.content.${index}: Invalid \`data\` in \`redacted_thinking\` block`;
    }
  return undefined;
}

function settingsProblem(request: AnthropicRequest): string | undefined {
  const { thinking, max_tokens, temperature, tool_choice, messages } = request;
  if (thinking === undefined || thinking.type === "disabled") return undefined;
  // https://platform.claude.com/docs/en/build-with-claude/extended-thinking#extended-thinking-with-tool-use
  if (tool_choice?.type === "any" || tool_choice?.type === "tool")
    return "Thinking may not be enabled when tool_choice forces tool use.";
  // https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking: turns need not begin with thinking.
  if (thinking.type !== "enabled") return undefined;
  if (thinking.budget_tokens >= max_tokens)
    return "`max_tokens` must be greater than `thinking.budget_tokens`";
  if (temperature !== undefined && temperature !== 1)
    return "`temperature` may only be set to 1 when thinking is enabled";
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  const last = messages[at];
  const blocks = last === undefined ? [] : blocksOf(last);
  const [first] = blocks;
  const isThought = first?.type === "thinking" || first?.type === "redacted_thinking";
  if (isThought || !blocks.some(({ type }) => type === "tool_use")) return undefined;
  return (
    `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first?.type}\`. ` +
    "When `thinking` is enabled, a final `assistant` message must start with a thinking block " +
    "(preceding the lastmost set of `tool_use` and `tool_result` blocks)."
  );
}

interface Account {
  key: string;
  thinking: Thinking | undefined;
}

const accounts = new WeakMap<ChatRequest, Account>();

/** Remembers what the thinking of the answer depends on. */
export function rememberThinking(chat: ChatRequest, account: Account): void {
  accounts.set(chat, account);
}

/** The thinking that an answer begins with. */
export function thinkingOf(
  { reasoning, redacted, model }: Completion,
  request: ChatRequest,
): ThinkingBlock[] {
  const { key = "", thinking } = accounts.get(request) ?? {};
  const omitted = thinking !== undefined && "display" in thinking && thinking.display === "omitted";
  const text = omitted ? "" : (reasoning ?? "");
  return [
    ...(reasoning === undefined
      ? []
      : [{ type: "thinking" as const, thinking: text, signature: sign(key, model, text) }]),
    ...(redacted
      ? [{ type: "redacted_thinking" as const, data: sign(key, model, "redacted") }]
      : []),
  ];
}
