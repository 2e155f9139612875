import type { ConversationRules } from "../../chat/conversation.ts";

/** The message format that a provider's models expect (AutoGen's message transformers). */
export interface Dialect {
  /** Replaces an empty system message, which some models refuse. */
  emptySystem: string;
  /** A text without a visible character: sent as it is, as a blank, or not at all. */
  emptyText: ConversationRules["emptyText"];
  /** Replaces an empty text beside tool calls. */
  emptyThought: string;
  /** True if user messages may carry a `name`. */
  names: boolean;
  /** True if white space at the end of the conversation is refused when the assistant spoke last. */
  trimLast: boolean;
  /** True if calls and results are refused in a request without tools. */
  needsTools: boolean;
}

const OPENAI: Dialect = {
  emptySystem: "",
  emptyText: "keep",
  emptyThought: "",
  names: true,
  trimLast: false,
  needsTools: false,
};

const GEMINI: Dialect = { ...OPENAI, emptySystem: " ", emptyText: "blank", emptyThought: " " };
const CLAUDE: Dialect = {
  ...OPENAI,
  emptySystem: " ",
  emptyText: "skip",
  emptyThought: " ",
  trimLast: true,
  needsTools: true,
};
const MISTRAL: Dialect = { ...OPENAI, emptySystem: " ", emptyText: "skip", names: false };

const FAMILIES: readonly (readonly [prefixes: RegExp, dialect: Dialect])[] = [
  [/^claude-/, CLAUDE],
  [/^gemini-/, GEMINI],
  [/^(open-)?(codestral|mistral|ministral|magistral|devstral|pixtral|mixtral)/, MISTRAL],
  [/^(gpt-|o[134]\b|r1$|llama-)/, OPENAI],
];

/** The dialect of a family or, for a family that is not in the table, of the model by its name. */
export function dialectOf(family: string, model: string): Dialect {
  const find = (name: string): Dialect | undefined =>
    FAMILIES.find(([prefixes]) => prefixes.test(name))?.[1];
  return find(family) ?? find(model) ?? OPENAI;
}
