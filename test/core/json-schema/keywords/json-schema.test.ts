import { complete, prune } from "#core/json-schema/arrange.ts";
import { JsonSchema } from "#core/json-schema/json-schema.ts";
import type { Json, JsonObject } from "troupe";
import { describe, expect, it } from "vitest";

const TOO_COMPLEX = "is too large or too complex to be checked against its JSON schema";

describe("the findings of a schema", () => {
  it.each<[string, JsonObject, Json, string[]]>([
    ["type", { type: ["string", "null"] }, 3, [": expected string or null, got number"]],
    ["integer", { type: "integer" }, 3.5, [": expected integer, got number"]],
    ["const", { const: { a: [1] } }, { a: [2] }, [': must be {"a":[1]}']],
    ["enum", { enum: ["a", { b: 1 }] }, { b: 2 }, [': must be one of "a", {"b":1}']],
    ["multipleOf", { multipleOf: 0.1 }, 0.35, [": must be a multiple of 0.1"]],
    ["length", { maxLength: 1 }, "😀😀", [": must have at most 1 characters, has 2"]],
    ["format", { format: "date" }, "2026-02-30", [': must have the format "date"']],
    ["required", { required: ["a"] }, {}, ["a: missing"]],
    ["unknown", { additionalProperties: false }, { a: 1 }, ["a: is not a known field"]],
    ["items", { items: { type: "string" } }, ["a", 1], ["[1]: expected string, got number"]],
    [
      "unique",
      { uniqueItems: true },
      [{ a: 1, b: 2 }, 0, { b: 2, a: 1 }],
      ["[2]: repeats the item at index 0"],
    ],
    [
      "anyOf",
      { anyOf: [{ minimum: 5 }, { minimum: 3 }] },
      1,
      [": matches none of the alternatives"],
    ],
    [
      "nullable",
      { anyOf: [{ type: "string", minLength: 2 }, { type: "null" }] },
      "a",
      [": must have at least 2 characters, has 1"],
    ],
    [
      "unevaluated",
      { allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
      { a: 1, b: 2 },
      ["b: is not allowed"],
    ],
    [
      "pattern of names",
      { patternProperties: { "^n": { type: "number" } } },
      { n1: "" },
      ["n1: expected number, got string"],
    ],
  ])("are right: %s", (_name, schema, value, expected) => {
    const issues = new JsonSchema(schema).check(value);
    expect(issues.map(({ path, message }) => `${path}: ${message}`)).toEqual(expected);
  });

  it("are named by the path from the root", () => {
    const schema = new JsonSchema({
      properties: { list: { items: { $ref: "#/$defs/item" } } },
      $defs: { item: { required: ["a/b"] } },
    });
    expect(schema.check({ list: [{}] }, "config")).toEqual([
      { path: "config.list[0].a/b", message: "missing" },
    ]);
  });
});

describe("a schema that cannot be used", () => {
  it.each<[JsonObject, string]>([
    [
      { properties: { a: { $ref: "#/$defs/b" } } },
      '"#/$defs/b", which is not in it (at properties.a.$ref)',
    ],
    [{ $ref: "#/%zz" }, "which is not in it"],
    [{ properties: { a: { pattern: "(" } } }, "pattern at properties.a.pattern cannot be used"],
    [
      { patternProperties: { "(a)\\1": true } },
      "pattern at patternProperties.(a)\\1 cannot be used: back references",
    ],
    [nested(300, { type: "string" }), "nested deeper than 250 levels"],
  ])("names the place and the reason", (schema, message) => {
    expect(() => new JsonSchema(schema)).toThrow(message);
  });

  it("is recognised, and one with data that look like patterns or references is accepted", () => {
    const data = { pattern: "(", $ref: "#/nowhere" };
    const schema = { properties: { pattern: { const: data, default: data, enum: [data] } } };
    expect(new JsonSchema(schema).check({ pattern: data })).toEqual([]);
  });
});

describe("the work of a check is limited", () => {
  it("if patterns are costly", () => {
    const schema = new JsonSchema({ pattern: "(?:a?){1000}b" });
    expect(schema.check("a".repeat(100_000))).toEqual([{ path: "", message: TOO_COMPLEX }]);
  });

  it("if unique items are costly", () => {
    const schema = new JsonSchema({ uniqueItems: true });
    const items = Array.from({ length: 100_000 }, (_, index) => ({ index, text: "x".repeat(10) }));
    expect(schema.check(items)).toEqual([]);
  });

  it("if formats are costly", () => {
    for (const format of [
      "url",
      "uri",
      "uri-reference",
      "uri-template",
      "email",
      "hostname",
      "ipv6",
      "regex",
      "duration",
    ]) {
      const schema = new JsonSchema({ format });
      for (const unit of ["a", "a.", "a-", "/", "%41", "{a}", "1:", "http://a", "@", '"', "1D"]) {
        for (const prefix of ["", "http://", "P", '"', "a@"]) {
          schema.check(`${prefix}${unit.repeat(100_000)} \n!`);
          schema.check(`${prefix}${unit.repeat(Math.floor(8000 / unit.length))} \n!`);
        }
      }
    }
  });

  it("if unions repeat each other", () => {
    const schema = new JsonSchema({
      type: "object",
      properties: { a: { anyOf: [{ $ref: "#" }, { $ref: "#" }, { type: "null" }] } },
      required: ["a"],
      additionalProperties: false,
    });
    let value: Json = "wrong";
    for (let depth = 0; depth < 60; depth++) value = { a: value };
    expect(schema.check(prune(value, schema))).not.toEqual([]);
    let right: Json = null;
    for (let depth = 0; depth < 60; depth++) right = { a: right };
    expect(complete(prune(right, schema), schema)).toEqual(right);
  });

  it("if references repeat each other", () => {
    const $defs: JsonObject = { d40: { minimum: 3 } };
    for (let depth = 0; depth < 40; depth++) {
      const next = { $ref: `#/$defs/d${depth + 1}` };
      $defs[`d${depth}`] = { [depth % 2 === 0 ? "anyOf" : "allOf"]: [next, next] };
    }
    const schema = new JsonSchema({ $ref: "#/$defs/d0", $defs });
    expect(schema.check(prune(1, schema))).toHaveLength(1);
    expect(schema.check(prune(3, schema))).toEqual([]);
  });

  it("if schemas contain themselves", () => {
    const self = { $ref: "#" };
    const schemas: JsonObject[] = [self, { allOf: [self] }, { anyOf: [self] }];
    for (const schema of schemas) {
      const checked = new JsonSchema(schema);
      expect(checked.check(prune({ a: 1 }, checked))).toEqual([]);
    }
  });

  it("if values are deep", () => {
    const schema = new JsonSchema({ items: { $ref: "#" } });
    let value: Json = [];
    for (let depth = 0; depth < 100_000; depth++) value = [value];
    expect(schema.check(prune(value, schema))).toEqual([
      { path: "", message: "is nested deeper than 250 levels" },
    ]);
  });

  it("if chains of references are long", () => {
    const $defs: JsonObject = { d5000: { type: "string" } };
    for (let depth = 0; depth < 5000; depth++)
      $defs[`d${depth}`] = { $ref: `#/$defs/d${depth + 1}` };
    expect(() => new JsonSchema({ $ref: "#/$defs/d0", $defs }).check(1)).not.toThrow();
  });
});

function nested(depth: number, inner: JsonObject): JsonObject {
  let schema = inner;
  for (let level = 0; level < depth; level++) schema = { items: schema };
  return schema;
}
