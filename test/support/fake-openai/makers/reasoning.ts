import { seal } from "../responses/sealing.ts";
import { type FakeMaker, type GivenRequest, type GivenTurn, isEmpty } from "./maker.ts";

/** The fields in which a server writes and takes reasoning. */
type Field = "reasoning_content" | "reasoning";

const written = (field: Field) => ({ reasoning: (text: string) => ({ [field]: text }) });

const isOff = ({ settings }: GivenRequest): boolean =>
  (settings["thinking"] as { type?: unknown } | undefined)?.type === "disabled";

interface Rules {
  /** Models that think only when they are asked to, or never. */
  unthinking?: RegExp;
  /** Models that cannot be kept from thinking. */
  always?: RegExp;
  /** Whether what a call carries counts as its reasoning. */
  isThere(turn: GivenTurn): boolean;
  problem(index: number): string;
}

/** Servers that refuse calls without their reasoning while the model thinks. */
function strict({ unthinking, always, isThere, problem }: Rules): FakeMaker {
  const thinks = (request: GivenRequest): boolean =>
    unthinking?.test(request.model) !== true &&
    (always?.test(request.model) === true || !isOff(request));
  return {
    messageFields: ["reasoning_content", "reasoning_details"],
    bodyFields: ["thinking"],
    problem(request) {
      const order = orderProblem(request);
      if (order !== undefined) return order;
      if (!thinks(request)) return undefined;
      const bare = request.turns.find((turn) => turn.calls.length > 0 && !isThere(turn));
      return bare && problem(bare.index);
    },
    thinks,
    voice: () => written("reasoning_content"),
  };
}

const isText = (value: unknown): boolean => typeof value === "string";

/**
 * https://github.com/lobehub/lobehub/pull/8419, https://github.com/carlrobertoh/ProxyAI/issues/834: an assistant's message with
 * neither a text nor calls; https://github.com/olimorris/codecompanion.nvim/issues/760: the end of a conversation
 */
function orderProblem({ model, messages }: GivenRequest): string | undefined {
  const at = messages.findIndex((message) => message.role === "assistant" && isEmpty(message));
  if (at !== -1)
    return model.startsWith("deepseek")
      ? "Invalid assistant message: content or tool_calls must be set"
      : `Invalid request: the message at position ${at} with role 'assistant' must not be empty`;
  if (model.startsWith("deepseek-reasoner") && messages.at(-1)?.role === "assistant")
    return "The last message of deepseek-reasoner must be a user message, or an assistant message with prefix mode on";
  return undefined;
}

/** https://api-docs.deepseek.com/guides/thinking_mode */
export const deepseek = strict({
  unthinking: /^deepseek-chat/,
  always: /^deepseek-reasoner/,
  isThere: ({ fields }) => isText(fields["reasoning_content"]),
  problem: () => "The `reasoning_content` in the thinking mode must be passed back to the API.",
});

/** https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model, https://github.com/charmbracelet/crush/issues/2696 */
export const kimi = strict({
  always: /thinking/,
  isThere: ({ fields }) =>
    isText(fields["reasoning_content"]) && fields["reasoning_content"] !== "",
  problem: (index) =>
    `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${index}`,
});

/** https://docs.z.ai/guides/capabilities/thinking-mode */
export const glm = strict({
  isThere: ({ fields }) => isText(fields["reasoning_content"]),
  problem: (index) => `messages[${index}]: reasoning_content of the tool calls must be returned`,
});

/** https://platform.minimax.io/docs/guides/text-m2-function-call: the thinking is part of the message. */
export const minimax = strict({
  always: /./,
  isThere: ({ fields, content }) =>
    isText(fields["reasoning_content"]) ||
    Array.isArray(fields["reasoning_details"]) ||
    String(content).includes("<think>"),
  problem: (index) => `messages[${index}]: the thinking of the tool calls is missing`,
});

/** Servers that give reasoning and take it back. */
const lenient = (field: Field): FakeMaker => ({
  messageFields: [field],
  bodyFields: [],
  problem: () => undefined,
  thinks: () => true,
  voice: () => written(field),
});

/** https://www.alibabacloud.com/help/en/model-studio/deep-thinking */
export const qwen = lenient("reasoning_content");
/** https://docs.x.ai/docs/guides/reasoning, and the sentence of https://github.com/langbot-app/LangBot/issues/1205 */
export const grok: FakeMaker = {
  ...lenient("reasoning_content"),
  problem: ({ messages }) =>
    messages.some((message) => message.role !== "tool" && isEmpty(message))
      ? "An empty message was provided. Every message needs at least one non-empty content element."
      : undefined,
};
/** https://docs.vllm.ai/en/latest/features/reasoning_outputs */
export const gptOss = lenient("reasoning");

/** https://docs.mistral.ai/capabilities/reasoning: the content is a list, and other fields are refused. */
export const mistral: FakeMaker = {
  messageFields: [],
  bodyFields: [],
  // https://mistralai.github.io/mistral-common/usage/tools/#tool-calling-and-messages, and the sentence of
  // https://github.com/anomalyco/opencode/issues/1680
  isStrict: true,
  problem({ turns, messages }) {
    const roles = messages.map(({ role }) => role);
    for (const [index, message] of messages.entries()) {
      const before = roles[index - 1];
      // https://github.com/swarmauri/swarmauri-sdk/issues/276
      if (message.role === "system" && (before === "assistant" || before === "tool"))
        return `Unexpected role 'system' after role '${before}'`;
      if (message.role === "assistant" && isEmpty(message))
        return "Assistant message must have either content or tool_calls.";
    }
    if (!roles.includes("user")) return "Conversation must have at least one user message";
    if (roles.find((role) => role !== "system") !== "user")
      return "Conversation must start with a user message or system message";
    // https://github.com/aaif-goose/goose/issues/5998
    if (roles.some((role, index) => role === "user" && roles[index - 1] === "tool"))
      return "Unexpected role 'user' after role 'tool'";
    // https://github.com/0xPlaygrounds/rig/pull/1130
    if (roles.at(-1) === "assistant")
      return "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant";
    const ids = turns.flatMap(({ calls }) => calls.map(({ id }) => id));
    const wrong = ids.find((id) => !/^[a-zA-Z0-9]{9}$/.test(id));
    return wrong === undefined
      ? undefined
      : `Tool call id was ${wrong} but must be a-z, A-Z, 0-9, with a length of 9.`;
  },
  thinks: () => true,
  voice: () => ({
    reasoning: (text) => ({ content: [thinkingPart(text)] }),
    content: (text, reasoning) => [
      thinkingPart(reasoning),
      ...(text === "" ? [] : [{ type: "text", text }]),
    ],
  }),
};

const thinkingPart = (text: string) => ({
  type: "thinking",
  thinking: [{ type: "text", text }],
});

/** https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning */
export const openrouter: FakeMaker = {
  messageFields: ["reasoning_details", "reasoning", "reasoning_content"],
  bodyFields: ["reasoning"],
  problem(request) {
    const { settings, turns } = request;
    for (const { fields } of turns)
      for (const detail of (fields["reasoning_details"] ?? []) as Detail[])
        if (detail.signature !== signatureOf(request, detail.text ?? ""))
          return "Invalid signature in reasoning_details";
    if ((settings["reasoning"] as { enabled?: unknown } | undefined)?.enabled === false)
      return undefined;
    const isThere = ({ fields }: GivenTurn): boolean =>
      [fields["reasoning_details"], fields["reasoning"], fields["reasoning_content"]].some(
        (field) => field !== undefined,
      );
    const bare = turns.find((turn) => turn.calls.length > 0 && !isThere(turn));
    return bare && `messages[${bare.index}]: the reasoning of the tool calls must be passed back`;
  },
  thinks: ({ settings }) =>
    (settings["reasoning"] as { enabled?: unknown } | undefined)?.enabled !== false,
  voice: (request, { reasoning = "" }) => ({
    reasoning: (text, last) => ({
      reasoning: text,
      reasoning_details: [
        {
          type: "reasoning.text",
          text,
          format: "anthropic-claude-v1",
          index: 0,
          ...(last && { signature: signatureOf(request, reasoning) }),
        },
      ],
    }),
  }),
};

interface Detail {
  text?: string;
  signature?: string;
}

const signatureOf = ({ key, model }: GivenRequest, text: string): string =>
  seal(`${key}/${model}`, text);
