import * as fc from "fast-check";
import type {
  AssistantMessage,
  FunctionCall,
  FunctionExecutionResultMessage,
  LLMMessage,
} from "troupe";

/** The beginning of a PNG, which is enough for a picture. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const user = (content: string): LLMMessage => ({ type: "UserMessage", source: "user", content });
const assistant = (content: AssistantMessage["content"]): LLMMessage => ({
  type: "AssistantMessage",
  source: "helper",
  content,
  thought: null,
});

/** A call with its result, numbered by its place in the conversation. */
function exchange(place: number, count: number): LLMMessage[] {
  const calls: FunctionCall[] = Array.from({ length: count }, (_, index) => ({
    id: `call_${place}_${index}`,
    name: index === 0 ? "lookup" : "add",
    arguments: '{"q":"a"}',
  }));
  const content = calls.map(({ id, name }) => ({
    call_id: id,
    name,
    content: "5",
    is_error: false,
  }));
  return [assistant(calls), { type: "FunctionExecutionResultMessage", content }];
}

/** A conversation as teams have it. */
const sound: fc.Arbitrary<LLMMessage[]> = fc
  .array(fc.constantFrom("user", "text", "one", "two", "system"), { maxLength: 8 })
  .map((kinds) =>
    kinds.flatMap((kind, place): LLMMessage[] => {
      if (kind === "user") return [user(`Question ${place}?`)];
      if (kind === "text") return [assistant(`Answer ${place}.`)];
      if (kind === "system") return [{ type: "SystemMessage", content: `Rule ${place}.` }];
      return exchange(place, kind === "one" ? 1 : 2);
    }),
  )
  .map((messages) => [{ type: "SystemMessage", content: "Be kind." }, user("Begin."), ...messages]);

/** Texts, names, ids and arguments that servers, models and tools have put into conversations. */
const TEXTS: readonly unknown[] = [
  "",
  " \n",
  "a\ud83e",
  "\udd89b ",
  `[Image: ${PNG}]`,
  null,
  undefined,
  7,
  [],
];
const NAMES: readonly unknown[] = ["", "a b.c", "名前", "x".repeat(80), "a\ud83e", null, 5];
const IDS: readonly unknown[] = [
  "",
  "c1",
  "functions.x:0",
  "x".repeat(80),
  "é\n",
  "a\ud83e",
  5,
  null,
];
const ARGUMENTS: readonly unknown[] = [
  '{"q":"a',
  "",
  "null",
  "[1]",
  '"x"',
  String.raw`{"q":"\ud83e"}`,
  String.raw`{"q":"\\ud83e \ud83e\udd89"}`,
  '{"q":"\ud83e"}',
  { q: 1 },
  undefined,
];

/** One fault at a place of the conversation. */
type Damage = (messages: unknown[], at: number) => void;

type Loose = { type: string; content?: unknown; [name: string]: unknown };

const fieldOf = (message: unknown, name: string, value: unknown): void => {
  const { content } = message as Loose;
  if (!Array.isArray(content)) return;
  for (const part of content as unknown[])
    if (typeof part === "object" && part !== null && name in part) (part as Loose)[name] = value;
};

const setting = (name: string, values: readonly unknown[]): Damage[] =>
  values.map((value) => (messages, at) => fieldOf(messages[at], name, value));

const DAMAGES: readonly Damage[] = [
  ...TEXTS.map((content): Damage => (messages, at) => {
    messages[at] = { ...(messages[at] as Loose), content };
  }),
  ...setting("content", ["", " ", "a\ud83e", null]),
  ...setting("is_error", [true]),
  ...setting("name", NAMES),
  ...setting("id", IDS),
  ...setting("call_id", IDS),
  ...setting("arguments", ARGUMENTS),
  (messages, at) => messages.splice(at, 1),
  (messages, at) => messages.splice(at, 0, structuredClone(messages.at(-1))),
  (messages, at) => messages.push(...messages.splice(at, 1)),
  (messages) => messages.splice(0, messages.length, ...messages.toReversed()),
  (messages, at) => messages.splice(at, 0, { ...assistant([]), thought: "I think." }),
  (messages, at) => messages.splice(0, at),
  (messages, at) => {
    const message = messages[at] as Loose;
    if (message.type === "UserMessage") message.content = ["", " ", { data: PNG }, ""];
  },
  (messages, at) => {
    const message = messages[at] as FunctionExecutionResultMessage;
    if (message.type === "FunctionExecutionResultMessage") message.content.pop();
  },
];

const damaged: fc.Arbitrary<LLMMessage[]> = fc
  .tuple(
    sound,
    fc.array(fc.tuple(fc.constantFrom(...DAMAGES), fc.nat(50)), { minLength: 1, maxLength: 5 }),
  )
  .map(([messages, damages]) => {
    const found: unknown[] = structuredClone(messages);
    for (const [damage, place] of damages)
      if (found.length > 0) damage(found, place % found.length);
    return found as LLMMessage[];
  });

/** Conversations, half of them with faults. */
export const conversations: fc.Arbitrary<LLMMessage[]> = fc.oneof(sound, damaged);
