import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { ChatCompletionClient, JsonObject, ToolSchema } from "troupe";
import {
  AnthropicChatCompletionClient,
  OllamaChatCompletionClient,
  OpenAIChatCompletionClient,
} from "troupe";
import {
  claudeRefusal,
  geminiRefusal,
  openAIRefusal,
  type SchemaRefusal,
  strictRefusal,
} from "../../../support/fake-openai/makers/schema-refusals.ts";
import { user } from "../support.ts";

const baseURL = "http://127.0.0.1:9/v1";
const openAI = (model: string, more: object = {}): ChatCompletionClient =>
  new OpenAIChatCompletionClient({ model, apiKey: "k", baseURL, ...more });

const MAKERS: readonly (readonly [string, ChatCompletionClient, SchemaRefusal])[] = [
  ["OpenAI", openAI("gpt-4o"), openAIRefusal],
  ["OpenAI's responses", openAI("gpt-5.6", { api: "responses" }), openAIRefusal],
  [
    "Claude",
    new AnthropicChatCompletionClient({ model: "claude-sonnet-4-5", apiKey: "k" }),
    claudeRefusal,
  ],
  ["Claude by OpenAI's API", openAI("claude-sonnet-4-5"), claudeRefusal],
  ["Gemini", openAI("gemini-2.5-flash"), geminiRefusal],
  ["Gemini by a router", openAI("google/gemini-2.5-pro"), geminiRefusal],
  ["Ollama", new OllamaChatCompletionClient({ model: "qwen3" }), openAIRefusal],
];

interface Sent {
  schema: JsonObject;
  strict: boolean;
  note: string | undefined;
}

/** The schema of a tool, or of the answer, in the request of a client. */
function sent(
  client: ChatCompletionClient,
  parameters: JsonObject | undefined,
  strict = false,
  isAnswer = false,
): Sent {
  const tool: ToolSchema = {
    name: "act",
    description: "Acts.",
    strict,
    ...(parameters && { parameters }),
  };
  const options = isAnswer
    ? { jsonOutput: { name: "Answer", schema: parameters ?? {} } }
    : { tools: [tool] };
  const request = client.writeRequest?.([user("Hi")], options, { streamed: false });
  const body = JSON.parse(request?.body ?? "{}");
  const format =
    body.response_format?.json_schema ??
    body.text?.format ??
    (body.format && { schema: body.format });
  const written = isAnswer && format ? format : (body.tools[0].function ?? body.tools[0]);
  return {
    schema: written.schema ?? written.parameters ?? written.input_schema,
    strict: written.strict,
    note: request?.note,
  };
}

const of = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});

const ODD: { readonly [kind: string]: JsonObject | undefined } = {
  "no schema": undefined,
  "an empty schema": {},
  "no type": { properties: { q: { type: "string" } } },
  "a union at the top": {
    anyOf: [of({ q: { type: "string" } }), of({ r: { type: "string" } })],
  },
  "alternatives at the top beside a type": {
    ...of({ q: { type: "string" } }),
    oneOf: [{ required: ["q"] }, { properties: { r: { type: "integer" } } }],
  },
  "parts at the top": { allOf: [of({ q: { type: "string" } }), of({ r: { type: "string" } })] },
  "a reference at the top": { $ref: "#/$defs/Q", $defs: { Q: of({ q: { type: "string" } }) } },
  "a condition at the top": { ...of({ q: { type: "string" } }), if: { required: ["q"] }, else: {} },
  "itself inside of itself": of(
    { next: { anyOf: [{ $ref: "#/$defs/N" }, { type: "null" }] } },
    { $defs: { N: of({ next: { anyOf: [{ $ref: "#/$defs/N" }, { type: "null" }] } }) } },
  ),
  "a reference that leads nowhere": of({ q: { $ref: "#/$defs/Lost" } }),
  "words beside a reference": of(
    { q: { $ref: "#/$defs/Q", description: "The question." } },
    { $defs: { Q: { type: "string" } } },
  ),
  nullable: of({
    q: { type: "string", nullable: true },
    e: { enum: ["a"], type: "string", nullable: true },
  }),
  "lists of types": of({ q: { type: ["string", "null"] }, r: { type: ["string", "integer"] } }),
  "odd formats": of({
    q: { type: "string", format: "uri" },
    n: { type: "integer", format: "uint8" },
  }),
  "many values": of({
    q: { type: "string", enum: Array.from({ length: 1500 }, (_, i) => `v${i}`) },
  }),
  "values that are not texts": of({
    q: { type: "integer", enum: [1, 2] },
    r: { enum: ["", "a", 1, null] },
  }),
  constants: of({ q: { const: "a" }, n: { const: 1 } }),
  "booleans as schemas": of({ any: true, none: false, list: { type: "array", items: true } }),
  "lists without items": of({
    q: { type: "array" },
    t: { type: "array", items: [{ type: "string" }, { type: "integer" }] },
  }),
  defaults: { type: "object", properties: { q: { type: "string", default: "a" } } },
  "free keys": of({ q: { type: "object", additionalProperties: { type: "string" } } }),
  "keys by pattern": of({ q: { type: "object", patternProperties: { "^a": { type: "string" } } } }),
  "special patterns": of({
    q: { type: "string", pattern: "^(?!x).*$" },
    r: { type: "string", minLength: 1 },
  }),
  "odd names": of({
    $filter: { type: "string" },
    "two words": { type: "integer" },
    ["n".repeat(70)]: {},
  }),
  "draft 4": of(
    { q: { type: "number", minimum: 1, exclusiveMinimum: true } },
    { $schema: "http://json-schema.org/draft-04/schema#" },
  ),
  "names that are not there": { ...of({ q: { type: "string" } }), required: ["q", "q", "lost"] },
  "null in place of keywords": {
    type: "object",
    properties: { q: { type: "string" } },
    required: null,
  },
  "references that lead to each other 3,000 times": {
    ...of({ q: { $ref: "#/$defs/0" } }),
    $defs: {
      ...Object.fromEntries(
        Array.from({ length: 3000 }, (_, level) => [
          String(level),
          { anyOf: [{ $ref: `#/$defs/${level + 1}` }, { type: "string" }] },
        ]),
      ),
      3000: { type: "integer" },
    },
  },
  "deep objects": Array.from({ length: 14 }).reduce<JsonObject>(
    (inner) => of({ in: inner }),
    of({}),
  ),
};

test.each(MAKERS)(
  "odd schemas of tools and answers are sent in the maker's form: %s",
  (name, client, refuses) => {
    const refused = Object.entries(ODD).flatMap(([kind, schema]) =>
      [false, true].flatMap((strict) =>
        (client.modelInfo.structuredOutput ? [false, true] : [false]).flatMap((isAnswer) => {
          const given = sent(client, schema, strict, isAnswer);
          const isHeld = given.strict && refuses === openAIRefusal;
          const problem =
            name === "Ollama" && isAnswer
              ? undefined
              : (isHeld ? strictRefusal : refuses)(given.schema);
          return problem === undefined ? [] : [`${kind}: ${problem}`];
        }),
      ),
    );
    expect(refused).toEqual([]);
  },
);

const anySchema = fc.letrec<{ schema: JsonObject }>((tie) => {
  const name = fc.constantFrom("q", "r", "$filter", "two words", "x-y", "日本");
  const list = fc.array(tie("schema"), { minLength: 1, maxLength: 3 });
  const keyword = fc.oneof(
    fc.record({
      type: fc.constantFrom(
        "string",
        "integer",
        "array",
        "object",
        ["string", "null"],
        ["integer", "string"],
      ),
    }),
    fc.record({ nullable: fc.boolean() }),
    fc.record({ enum: fc.array(fc.constantFrom("a", "b", "", 1, null, true), { minLength: 1 }) }),
    fc.record({ const: fc.constantFrom("a", 1, null) }),
    fc.record({ format: fc.constantFrom("uri", "date-time", "int32") }),
    fc.record({
      properties: fc.dictionary(name, fc.oneof(tie("schema"), fc.boolean()), { maxKeys: 3 }),
    }),
    fc.record({ required: fc.oneof(fc.array(name, { maxLength: 3 }), fc.constant(null)) }),
    fc.record({ additionalProperties: fc.oneof(fc.boolean(), tie("schema")) }),
    fc.record({ items: fc.oneof(tie("schema"), list, fc.boolean()) }),
    fc.record({ prefixItems: list }),
    fc.oneof(fc.record({ anyOf: list }), fc.record({ oneOf: list }), fc.record({ allOf: list })),
    fc.record({ $ref: fc.constantFrom("#/$defs/A", "#/$defs/B", "#/$defs/Lost", "#") }),
    fc.record({ not: tie("schema") }),
    fc.record({ pattern: fc.constantFrom("^a", "(?=b)", "\\p{L}") }),
    fc.record({ minimum: fc.integer(), exclusiveMinimum: fc.oneof(fc.boolean(), fc.integer()) }),
    fc.record({
      default: fc.constantFrom(null, 1, "a"),
      title: fc.constant("T"),
      examples: fc.constant([1]),
    }),
  );
  return {
    schema: fc
      .array(keyword, { maxLength: 4 })
      .map((parts) => Object.assign({}, ...parts) as JsonObject),
  };
}).schema;

test.each(MAKERS)("any schema of a tool is sent in the maker's form: %s", (_, client, refuses) => {
  fc.assert(
    fc.property(anySchema, anySchema, anySchema, fc.boolean(), (top, a, b, strict) => {
      const given = sent(client, { ...top, $defs: { A: a, B: b } }, strict);
      const isHeld = given.strict && refuses === openAIRefusal;
      expect((isHeld ? strictRefusal : refuses)(given.schema)).toBeUndefined();
    }),
    { numRuns: 300 },
  );
});
