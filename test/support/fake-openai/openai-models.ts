/** What OpenAI's own server accepts of a model, by the model's name. */
export interface OpenAIModel {
  /** Whether the model reasons, and so writes reasoning items. */
  reasons: boolean;
  /** The effort where a request has none. https://developers.openai.com/api/docs/guides/reasoning */
  defaultEffort: "none" | "medium";
  /** Whether the model is served by `/v1/responses` alone. https://developers.openai.com/api/docs/models/gpt-5-pro */
  responsesOnly: boolean;
  /** Whether chat completions refuses its tools. https://github.com/openai/openai-openapi/issues/541 */
  toolsRefused: (effort: string | null | undefined) => boolean;
}

const never = (): boolean => false;

/** gpt-5.4 takes tools where no effort is given, because its default is none. */
const withAnEffort = (effort: string | null | undefined): boolean =>
  effort != null && effort !== "none";

/** https://github.com/BerriAI/litellm/pull/34569: only an explicit `none` is accepted. */
const unlessNone = (effort: string | null | undefined): boolean => effort !== "none";

const RESPONSES_ONLY = /-pro\b|-codex\b|-deep-research|^computer-use/;

/** The first that matches counts; other models do not reason. */
const MODELS: readonly (readonly [RegExp, Omit<OpenAIModel, "responsesOnly">])[] = [
  [/^gpt-5(\.\d+)?-chat/, { reasons: false, defaultEffort: "none", toolsRefused: never }],
  [/^gpt-5\.4/, { reasons: true, defaultEffort: "none", toolsRefused: withAnEffort }],
  [
    /^gpt-(5\.([5-9]|\d\d)|[6-9])/,
    { reasons: true, defaultEffort: "medium", toolsRefused: unlessNone },
  ],
  [/^gpt-5\.[1-3]/, { reasons: true, defaultEffort: "none", toolsRefused: never }],
  [/^(gpt-5|o\d)/, { reasons: true, defaultEffort: "medium", toolsRefused: never }],
];

export function openAIModel(name: string): OpenAIModel {
  const found = MODELS.find(([pattern]) => pattern.test(name))?.[1];
  return {
    ...(found ?? { reasons: false, defaultEffort: "none", toolsRefused: never }),
    responsesOnly: RESPONSES_ONLY.test(name),
  };
}
