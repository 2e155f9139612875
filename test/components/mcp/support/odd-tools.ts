import type { JsonObject } from "troupe";

/** Parameters as models get them. */
export const parameters = (more: JsonObject = {}): JsonObject => ({
  type: "object",
  properties: {},
  required: [],
  additionalProperties: false,
  ...more,
});

const a = { type: "string" };
const b = { type: "integer" };
export const onlyA = parameters({ properties: { a } });

const RECURSIVE: JsonObject = {
  Args: { anyOf: [{ $ref: "#/$defs/Args" }, { $ref: "#/$defs/Args" }, { properties: { a } }] },
};

/** Definitions of which each has the next one twice: to follow each way would take 2^40 steps. */
function doubled(keyword: string): JsonObject {
  const levels = Array.from({ length: 40 }, (_, level): [string, JsonObject] => {
    const next = { $ref: `#/$defs/${level + 1}` };
    return [String(level), { [keyword]: [next, next] }];
  });
  return { ...Object.fromEntries(levels), 40: { properties: { a } } };
}

/** Entries of a list of tools, and the parameters that the model sees; null for entries that are left out. */
export const TOOLS: [string, JsonObject, JsonObject | null][] = [
  ["no schema", {}, parameters()],
  ["null as schema", { inputSchema: null }, parameters()],
  ["an empty list as schema", { inputSchema: [] }, parameters()],
  ["true as schema", { inputSchema: true }, parameters({ additionalProperties: true })],
  [
    "a schema as text",
    { inputSchema: '{"type":"object","properties":{"a":{"type":"string"}}}' },
    onlyA,
  ],
  ["a schema under another name", { input_schema: { properties: { a } } }, onlyA],
  ["no type", { inputSchema: { properties: { a } } }, onlyA],
  ["null as type", { inputSchema: { type: null, properties: { a } } }, onlyA],
  ["a nullable type", { inputSchema: { type: ["object", "null"], properties: { a } } }, onlyA],
  [
    "null for required",
    { inputSchema: { type: "object", properties: { a }, required: null } },
    onlyA,
  ],
  [
    "an object for required",
    { inputSchema: { type: "object", properties: { a }, required: {} } },
    onlyA,
  ],
  [
    "required names that are not texts",
    { inputSchema: { type: "object", properties: { a }, required: ["a", null, 3] } },
    parameters({ properties: { a }, required: ["a"] }),
  ],
  ["null for properties", { inputSchema: { type: "object", properties: null } }, parameters()],
  ["a list for properties", { inputSchema: { type: "object", properties: [] } }, parameters()],
  [
    "required inside of a property",
    { inputSchema: { type: "object", properties: { a: { type: "string", required: true }, b } } },
    parameters({ properties: { a, b }, required: ["a"] }),
  ],
  [
    "names of types from elsewhere, and null for what is not there",
    {
      inputSchema: {
        type: "Object",
        properties: { a: { type: "str", description: null, enum: null }, b: "int", c: null },
      },
    },
    parameters({ properties: { a, b, c: {} } }),
  ],
  [
    "a union at the top",
    {
      inputSchema: {
        anyOf: [
          { type: "object", properties: { a, kind: { const: 1 } }, required: ["a", "kind"] },
          { type: "object", properties: { b, kind: { const: 2 } }, required: ["kind"] },
        ],
      },
    },
    parameters({
      properties: { a, b, kind: { anyOf: [{ const: 1 }, { const: 2 }] } },
      required: ["kind"],
    }),
  ],
  [
    "a union at the top that only says what is required",
    {
      inputSchema: {
        type: "object",
        properties: { a, b },
        oneOf: [{ required: ["a"] }, { required: ["b"] }],
      },
    },
    parameters({ properties: { a, b } }),
  ],
  [
    "a reference at the top",
    {
      inputSchema: { $ref: "#/$defs/Args", $defs: { Args: { type: "object", properties: { a } } } },
    },
    parameters({
      properties: { a },
      $defs: { Args: { type: "object", properties: { a } } },
    }),
  ],
  [
    "a union inside of allOf, and one behind a reference",
    {
      inputSchema: {
        allOf: [{ anyOf: [{ properties: { a } }, { $ref: "#/$defs/B" }] }, { required: ["a"] }],
        $defs: { B: { oneOf: [{ properties: { b } }, { type: "null" }] } },
      },
    },
    parameters({
      properties: { a, b },
      required: ["a"],
      $defs: { B: { oneOf: [{ properties: { b } }, { type: "null" }] } },
    }),
  ],
  [
    "alternatives inside of alternatives",
    {
      inputSchema: {
        anyOf: [
          { required: ["a"], oneOf: [{ properties: { a } }, { properties: { a: b } }] },
          { properties: { a: { type: "boolean" } }, required: ["b", "a"] },
        ],
      },
    },
    parameters({ properties: { a: { anyOf: [a, b, { type: "boolean" }] } }, required: ["a"] }),
  ],
  [
    "alternatives that contain themselves",
    {
      inputSchema: { $ref: "#/$defs/Args", $defs: RECURSIVE },
    },
    parameters({ properties: { a }, $defs: RECURSIVE }),
  ],
  ...(["anyOf", "allOf"] as const).map((keyword): [string, JsonObject, JsonObject] => [
    `${keyword} with the same part twice, 40 levels deep`,
    { inputSchema: { $ref: "#/$defs/0", $defs: doubled(keyword) } },
    parameters({ properties: { a }, $defs: doubled(keyword) }),
  ]),
  [
    "allOf at the top",
    { inputSchema: { allOf: [{ properties: { a }, required: ["a"] }, { properties: { b } }] } },
    parameters({ properties: { a, b }, required: ["a"] }),
  ],
  [
    "odd fields beside the schema",
    {
      inputSchema: { type: "object", properties: { a } },
      title: 5,
      description: null,
      annotations: null,
      outputSchema: "text",
      icons: {},
      _meta: null,
      execution: "never",
    },
    onlyA,
  ],
  [
    "odd hints",
    { inputSchema: { properties: { a } }, annotations: { readOnlyHint: "yes" } },
    onlyA,
  ],
  ["a text as schema", { inputSchema: "anything" }, null],
  ["a list as schema", { inputSchema: ["a"] }, null],
  ["a schema of a text", { inputSchema: { type: "string" } }, null],
  ["a union of texts", { inputSchema: { anyOf: [{ type: "string" }, { type: "null" }] } }, null],
  ["a reference that leads nowhere", { inputSchema: { $ref: "https://example.com/x.json" } }, null],
  ["no name", { name: null, inputSchema: { type: "object" } }, null],
  ["an empty name", { name: "", inputSchema: { type: "object" } }, null],
];
