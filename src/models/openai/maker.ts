import type { JsonObject } from "../../core/json.ts";

/** What the server of a model wants back with the next request, and what it accepts instead. */
export interface Maker {
  /** Who the data belongs to, as messages name it. */
  name: string;
  /** Whether only the model that made the data can read it. Signatures are so, reasoning in plain text is not. */
  ofOneModel: boolean;
  /** Whether reasoning goes back with texts, too, and not with calls alone. */
  withTexts: boolean;
  /**
   * What goes back with calls: nothing (`bare`), what came, if anything (`free`), or else they are refused: a signature
   * (`signed`), the reasoning before them (`reasoned`).
   */
  calls: "bare" | "free" | "signed" | "reasoned";
  /** Fields of a request in which the model does not think; it then wants nothing back. */
  off?: JsonObject;
  /** Whether parts of `reasoning_details` that stream repeat those before. */
  repeats?: true;
}

type Kind = Omit<Maker, "name" | "ofOneModel"> & { ofOneModel?: true };

const THINKING_OFF: JsonObject = { thinking: { type: "disabled" } };

const FREE: Kind = { withTexts: false, calls: "free" };

/** Makers by the name of the model, the first match counts. */
const MODELS: readonly (readonly [pattern: RegExp, name: string, kind: Kind])[] = [
  // Its chat completions give nothing, and refuse fields that they do not know.
  [/^(chat)?gpt-(?!oss)|^o\d/, "openai", { ...FREE, calls: "bare" }],
  // https://ai.google.dev/gemini-api/docs/thought-signatures: Gemini 3 refuses unsigned calls, earlier ones do not.
  [/^gemini-[12]/, "google", { ...FREE, ofOneModel: true }],
  [/^gemini-/, "google", { ...FREE, ofOneModel: true, calls: "signed" }],
  // https://api-docs.deepseek.com/guides/thinking_mode
  [/^deepseek-(chat|coder|r1|v2|v3(?!\.[12]))/, "deepseek", FREE],
  [/^deepseek-reasoner/, "deepseek", { ...FREE, calls: "reasoned" }],
  [/^deepseek/, "deepseek", { ...FREE, calls: "reasoned", off: THINKING_OFF }],
  // https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model
  [/^kimi.*thinking/, "moonshot", { withTexts: true, calls: "reasoned" }],
  [/^kimi-(k2(?!\.)|latest)|^moonshot/, "moonshot", FREE],
  [/^kimi/, "moonshot", { withTexts: true, calls: "reasoned", off: THINKING_OFF }],
  // https://docs.z.ai/guides/capabilities/thinking-mode
  [/^glm-(4\.[5-9]|[5-9])/, "zai", { withTexts: true, calls: "reasoned", off: THINKING_OFF }],
  // https://platform.minimax.io/docs/guides/text-m2-function-call
  [/^minimax/, "minimax", { withTexts: true, calls: "reasoned", repeats: true }],
  [/^(qwen|qwq)/, "qwen", FREE],
  [/^grok/, "xai", FREE],
  // https://docs.mistral.ai/capabilities/reasoning
  [/^(open-)?(mistral|ministral|magistral|codestral|devstral|pixtral|mixtral)/, "mistral", FREE],
  [/^gpt-oss/, "gpt-oss", FREE],
];

/**
 * Known by its host or, behind a proxy, by its path; its models have their makers' names in front.
 * https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning
 */
const OPENROUTER = "openrouter";

/**
 * The maker of a model.
 * @param url of the server, which is the maker of models that are not known by name
 */
export function makerOf(model: string, url: string): Maker {
  const { hostname, host, pathname } = new URL(url);
  const name = (model.split("/").at(-1) ?? model).replace(/:.*$/, "").toLowerCase();
  const [, maker = host, kind = FREE] = MODELS.find(([pattern]) => pattern.test(name)) ?? [];
  const isRouter = /(^|\.)openrouter\.ai$/.test(hostname) || /^\/api\/v1\/?$/.test(pathname);
  if (isRouter && model.includes("/"))
    return {
      name: OPENROUTER,
      ofOneModel: true,
      withTexts: true,
      calls: kind.calls === "reasoned" ? "reasoned" : "free",
      ...(kind.off && { off: { reasoning: { enabled: false } } }),
    };
  return { ofOneModel: false, ...kind, name: maker };
}
