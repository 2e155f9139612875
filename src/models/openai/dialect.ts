/** How models of different makers want the same messages (AutoGen's message transformers). */
export interface Dialect {
  /** Empty texts are refused: what stands in for one in each kind of message, or `skip` to leave the message out. */
  emptySystem: string;
  emptyText: "keep" | "blank" | "skip";
  /** Text beside tool calls that must not be empty. */
  emptyThought: string;
  /** Whether user messages may carry a `name`. */
  names: boolean;
  /** The last message must not end in white space when it is the assistant's. */
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
  [/^(codestral|open-codestral-mamba|mistral|ministral|pixtral)/, MISTRAL],
  [/^(gpt-|o[134]\b|r1$|llama-)/, OPENAI],
];

/** The dialect of a family or, where that is a name of somebody's own, of what the model's name begins with. */
export function dialectOf(family: string, model: string): Dialect {
  const find = (name: string): Dialect | undefined =>
    FAMILIES.find(([prefixes]) => prefixes.test(name))?.[1];
  return find(family) ?? find(model) ?? OPENAI;
}
