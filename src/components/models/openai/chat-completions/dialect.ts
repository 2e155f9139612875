/** The message format that a provider's models expect (AutoGen's message transformers). */
export interface Dialect {
  /** Replaces an empty system message, which some models refuse. */
  emptySystem: string;
  /** An empty text: kept, replaced by a blank, or its message skipped. */
  emptyText: "keep" | "blank" | "skip";
  /** Replaces an empty text beside tool calls. */
  emptyThought: string;
  /** Whether user messages may carry a `name`. */
  names: boolean;
  /** Whether white space at the end of the conversation is refused when the assistant spoke last. */
  trimLast: boolean;
}

const OPENAI: Dialect = {
  emptySystem: "",
  emptyText: "keep",
  emptyThought: "",
  names: true,
  trimLast: false,
};

const GEMINI: Dialect = { ...OPENAI, emptySystem: " ", emptyText: "blank", emptyThought: " " };
const CLAUDE: Dialect = {
  ...OPENAI,
  emptySystem: " ",
  emptyText: "skip",
  emptyThought: " ",
  trimLast: true,
};
const MISTRAL: Dialect = { ...OPENAI, emptySystem: " ", names: false };

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
