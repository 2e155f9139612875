import * as fc from "fast-check";

/** Agents, and a human. */
export const SOURCES = ["user", "writer", "critic", "human", "Weather Bureau"] as const;

export const CHAT_TYPES = [
  "TextMessage",
  "StopMessage",
  "HandoffMessage",
  "ToolCallSummaryMessage",
  "MultiModalMessage",
  "StructuredMessage[Report]",
  // A later version has it.
  "Poem",
] as const;

export const EVENT_TYPES = [
  "MemoryQueryEvent",
  "SelectSpeakerEvent",
  "SelectorEvent",
  "CodeGenerationEvent",
  "CodeExecutionEvent",
  // A later version has it.
  "WeatherEvent",
] as const;

/** What may happen next in a run. Numbers choose among what there is then. */
export type Action =
  /** A piece of a text. `named`: pieces say the id that the message will have. */
  | { do: "stream"; source: string; named: boolean; content: string }
  /** A chat message. `streamed`: it begins with its text so far, if there is one. */
  | {
      do: "say";
      source: string;
      type: (typeof CHAT_TYPES)[number];
      streamed: boolean;
      content: string;
    }
  /** `ofText`: the text in progress turns out to be a thought. */
  | { do: "think"; source: string; ofText: boolean; content: string }
  | { do: "call"; source: string; calls: readonly { name: string; arguments: string }[] }
  /** The results of the oldest calls without any. */
  | { do: "results"; contents: readonly string[]; failed: boolean }
  | { do: "event"; source: string; type: (typeof EVENT_TYPES)[number]; content: string }
  | { do: "ask"; source: string; kind: "input" | "approval"; prompt: string }
  /** The oldest calls without results are the client's. */
  | { do: "delegate" }
  /** Steps beside the questions have ended. */
  | { do: "wait" }
  | { do: "answer"; which: number }
  | { do: "pause" }
  /** The model is called again. */
  | { do: "discard"; which: number }
  /** A turn ends: its texts are forgotten without a word. */
  | { do: "turn" }
  | { do: "retract"; last: number }
  /** A message that was retracted comes again. */
  | { do: "repeat" };

/** How a run ends; null: not yet. */
export type Ending = "completed" | "failed" | "cancelled" | null;

const source = fc.constantFrom(...SOURCES);
const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: "grapheme", maxLength: 6 }),
  fc.constantFrom(
    "",
    "Two\nlines",
    "data: x\n\n",
    '{"city":"Lisbon"}',
    "\u2028",
    "</script>",
    "🎭",
  ),
);
const json = fc.oneof(
  fc.constantFrom("", "{}", '{"city":"Lisbon"}', "no JSON", "[1]", "null", '{"a":'),
  fc.json({ maxDepth: 2 }),
);
const name = fc.constantFrom("weather", "search", "transfer_to_critic");

export const actions: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("stream" as const),
      source,
      named: fc.boolean(),
      content: text,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("say" as const),
      source,
      type: fc.constantFrom(...CHAT_TYPES),
      streamed: fc.boolean(),
      content: text,
    }),
  },
  fc.record({ do: fc.constant("think" as const), source, ofText: fc.boolean(), content: text }),
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("call" as const),
      source,
      calls: fc.array(fc.record({ name, arguments: json }), { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("results" as const),
      contents: fc.array(text, { minLength: 1, maxLength: 3 }),
      failed: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("event" as const),
      source,
      type: fc.constantFrom(...EVENT_TYPES),
      content: text,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("ask" as const),
      source,
      kind: fc.constantFrom("input" as const, "approval" as const),
      prompt: text,
    }),
  },
  { weight: 2, arbitrary: fc.constant<Action>({ do: "delegate" }) },
  { weight: 3, arbitrary: fc.constant<Action>({ do: "wait" }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("answer" as const), which: fc.nat(3) }) },
  fc.constant<Action>({ do: "pause" }),
  fc.record({ do: fc.constant("discard" as const), which: fc.nat(3) }),
  fc.constant<Action>({ do: "turn" }),
  fc.record({ do: fc.constant("retract" as const), last: fc.integer({ min: 1, max: 4 }) }),
  fc.constant<Action>({ do: "repeat" }),
);

export const endings: fc.Arbitrary<Ending> = fc.constantFrom(
  "completed",
  "failed",
  "cancelled",
  null,
);
