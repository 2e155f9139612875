import type { JsonObject } from "../../../../core/json.ts";
import { type ConversationRules, WITHOUT_PREFILL } from "../../chat/conversation.ts";

/** The data that the server of a model needs with the next request, and the accepted substitutes. */
export interface Maker {
  /** The owner of the data, as messages name it. */
  name: string;
  /** True if only the model that made the data can read it. Signatures are so; reasoning in plain text is not. */
  ofOneModel: boolean;
  /** True if reasoning is sent back with texts too, and not only with calls. */
  withTexts: boolean;
  /**
   * The data sent back with calls: none (`bare`), optional data (`free`), or required data: a signature
   * (`signed`), the reasoning before them (`reasoned`).
   */
  calls: "bare" | "free" | "signed" | "reasoned";
  /** Fields of a request that disable thinking; the model then needs no data back. */
  off?: JsonObject;
  /** Set if streamed parts of `reasoning_details` repeat the earlier ones. */
  repeats?: true;
  /** The part type in which its chat completions take a PDF. Default: OpenAI's, `file`. */
  pdfPart?: "image_url";
  /** The conversations that the server takes. Default: those of the dialect of the model's family. */
  takes?: Partial<Omit<ConversationRules, "systems">> & {
    /** Set if system messages have to be before all others. */
    systemFirst?: true;
  };
  /** Set if streams have their usage unasked, and a request for it is refused. */
  usageUnasked?: true;
}

type Kind = Omit<Maker, "name" | "ofOneModel"> & { ofOneModel?: true };

const THINKING_OFF: JsonObject = { thinking: { type: "disabled" } };

const FREE: Kind = { withTexts: false, calls: "free" };

/** https://platform.claude.com/docs/en/api/messages/create */
const CLAUDE: Kind = { ...FREE, takes: { callIds: /^[a-zA-Z0-9_-]{1,64}$/, userFirst: true } };

/**
 * https://docs.mistral.ai/capabilities/reasoning
 * https://mistralai.github.io/mistral-common/usage/tools/#tool-calling-and-messages: ids of calls, and the order
 * https://github.com/dnakov/anon-kode/issues/53: `stream_options`
 */
const MISTRAL: Kind = {
  ...FREE,
  takes: {
    callIds: /^[a-zA-Z0-9]{9}$/,
    emptyText: "skip",
    systemFirst: true,
    userFirst: true,
    userLast: true,
    bridged: true,
  },
  usageUnasked: true,
};

/**
 * https://github.com/google-gemini/gemini-cli/issues/26486: what calls follow
 * https://github.com/crewAIInc/crewAI/pull/6973: who speaks last
 */
const GEMINI: Kind = {
  ...FREE,
  ofOneModel: true,
  takes: { userFirst: true, userLast: true, callsAfterUser: true },
};

/**
 * https://github.com/carlrobertoh/ProxyAI/issues/834, https://github.com/lobehub/lobehub/pull/8419 and
 * https://github.com/langbot-app/LangBot/issues/1205: DeepSeek, Moonshot and xAI refuse a message without a text.
 */
const WITHOUT_EMPTY = { takes: { emptyText: "skip" } } as const;

/** Providers by the name of the model, the first match counts. */
const MODELS: readonly (readonly [pattern: RegExp, name: string, kind: Kind])[] = [
  // Its chat completions return no data, and refuse unknown fields.
  // https://github.com/vercel/ai/issues/5171: the longest id of a call
  [
    /^(chat)?gpt-(?!oss)|^o\d/,
    "openai",
    { ...FREE, calls: "bare", takes: { callIds: /^.{1,40}$/ } },
  ],
  [WITHOUT_PREFILL, "claude", { ...CLAUDE, takes: { ...CLAUDE.takes, userLast: true } }],
  [/^claude-/, "claude", CLAUDE],
  // https://ai.google.dev/gemini-api/docs/thought-signatures: Gemini 3 refuses unsigned calls, earlier ones do not.
  // Google's server refuses parts of the kind `file`, and reads a PDF as an image ("Invalid content part type: file").
  [/^gemini-[12]/, "google", { ...GEMINI, pdfPart: "image_url" }],
  [/^gemini-/, "google", { ...GEMINI, calls: "signed", pdfPart: "image_url" }],
  // https://api-docs.deepseek.com/guides/thinking_mode
  [/^deepseek-(chat|coder|r1|v2|v3(?!\.[12]))/, "deepseek", { ...FREE, ...WITHOUT_EMPTY }],
  // https://github.com/olimorris/codecompanion.nvim/issues/760: who speaks last
  [
    /^deepseek-reasoner/,
    "deepseek",
    { ...FREE, calls: "reasoned", takes: { emptyText: "skip", userLast: true } },
  ],
  [/^deepseek/, "deepseek", { ...FREE, ...WITHOUT_EMPTY, calls: "reasoned", off: THINKING_OFF }],
  // https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model
  [/^kimi.*thinking/, "moonshot", { ...WITHOUT_EMPTY, withTexts: true, calls: "reasoned" }],
  [/^kimi-(k2(?!\.)|latest)|^moonshot/, "moonshot", { ...FREE, ...WITHOUT_EMPTY }],
  [
    /^kimi/,
    "moonshot",
    { ...WITHOUT_EMPTY, withTexts: true, calls: "reasoned", off: THINKING_OFF },
  ],
  // https://docs.z.ai/guides/capabilities/thinking-mode
  [
    /^glm-(4\.[5-9]|[5-9])/,
    "zai",
    { ...WITHOUT_EMPTY, withTexts: true, calls: "reasoned", off: THINKING_OFF },
  ],
  // https://platform.minimax.io/docs/guides/text-m2-function-call
  [/^minimax/, "minimax", { ...WITHOUT_EMPTY, withTexts: true, calls: "reasoned", repeats: true }],
  [/^(qwen|qwq)/, "qwen", FREE],
  [/^grok/, "xai", { ...FREE, ...WITHOUT_EMPTY }],
  [/^(open-)?(mistral|ministral|magistral|codestral|devstral|pixtral|mixtral)/, "mistral", MISTRAL],
  [/^gpt-oss/, "gpt-oss", FREE],
];

/**
 * Recognized by its host or, behind a proxy, by its path; its models' names begin with their providers' names.
 * https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning
 */
const OPENROUTER = "openrouter";

/**
 * The provider of a model.
 * @param url the server, which is the provider of models that are not known by name
 */
export function makerOf(model: string, url: string): Maker {
  const { hostname, host, pathname } = new URL(url);
  const [name = ""] = (model.split("/").at(-1) ?? model).toLowerCase().split(":", 1);
  const [, maker = host, kind = FREE] = MODELS.find(([pattern]) => pattern.test(name)) ?? [];
  const isRouter = /(^|\.)openrouter\.ai$/.test(hostname) || /^\/api\/v1\/?$/.test(pathname);
  if (isRouter && model.includes("/"))
    return {
      name: OPENROUTER,
      ofOneModel: true,
      withTexts: true,
      calls: kind.calls === "reasoned" ? "reasoned" : "free",
      ...(kind.off && { off: { reasoning: { enabled: false } } }),
      ...(kind.takes && { takes: kind.takes }),
    };
  return { ofOneModel: false, ...kind, name: maker };
}
