import type { Refusal } from "../refusal.ts";
import { type InputItem, isMessage } from "./input-items.ts";
import { open, reasoningIdOf, requiredReasoning } from "./sealing.ts";

/** What the server refuses of reasoning that is sent back. https://developers.openai.com/api/docs/guides/reasoning */
export function reasoningProblem(
  input: readonly InputItem[],
  key: string,
  store: boolean,
): Refusal | undefined {
  const reasoned = new Set<string>();
  for (const [index, item] of input.entries()) {
    if (!isMessage(item) && item.type === "reasoning") {
      const refusal = contentProblem(item, key, store) ?? followerProblem(item, input[index + 1]);
      if (refusal !== undefined) return refusal;
      const id = item.id ?? open(key, item.encrypted_content ?? "");
      if (id !== undefined) reasoned.add(id);
      continue;
    }
    // https://github.com/mastra-ai/mastra/issues/8738
    const { id } = item;
    const required = typeof id === "string" ? requiredReasoning(id) : undefined;
    if (required !== undefined && !reasoned.has(required))
      return {
        param: "input",
        problem: `Item '${String(id)}' of type '${isMessage(item) ? "message" : item.type}' was provided without its required 'reasoning' item: '${required}'.`,
      };
  }
  return undefined;
}

type ReasoningItem = Extract<InputItem, { type: "reasoning" }>;

function contentProblem(
  { id, encrypted_content }: ReasoningItem,
  key: string,
  store: boolean,
): Refusal | undefined {
  if (encrypted_content == null) {
    if (store) return undefined;
    // https://github.com/can1357/oh-my-pi/issues/41
    return {
      status: 404,
      param: "input",
      problem: `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
    };
  }
  const opened = open(key, encrypted_content);
  if (opened !== undefined && (id === undefined || id === opened)) return undefined;
  // https://github.com/openai/codex/issues/8145
  return {
    code: "invalid_encrypted_content",
    problem: `The encrypted content ${encrypted_content.slice(0, 4)}...${encrypted_content.slice(-4)} could not be verified.`,
  };
}

/** Reasoning stands before what was written after it. https://github.com/openai/openai-node/issues/1567 */
function followerProblem(
  { id = reasoningIdOf("unknown") }: ReasoningItem,
  next: InputItem | undefined,
): Refusal | undefined {
  const follows =
    next !== undefined &&
    (isMessage(next) ? next.role === "assistant" : next.type !== "function_call_output");
  if (follows) return undefined;
  return {
    param: "input",
    problem: `Item '${id}' of type 'reasoning' was provided without its required following item.`,
  };
}
