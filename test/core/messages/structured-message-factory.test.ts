import { describe, expect, test } from "vitest";
import { MessageError, StructuredMessageFactory, ValueError, dumpComponent, toText } from "troupe";
import { testOrigin } from "./origin.ts";

const jsonSchema = {
  properties: {
    name: { type: "string" },
    points: { type: "number" },
    passed: { default: true, type: "boolean" },
    notes: { anyOf: [{ type: "string" }, { type: "null" }], default: null },
    tags: { default: [], items: { $ref: "#/$defs/Tag" }, type: "array" },
  },
  required: ["name", "points"],
  title: "Score",
  type: "object",
  $defs: {
    Tag: {
      type: "object",
      properties: { key: { type: "string" }, weight: { type: "integer", default: 1 } },
      required: ["key"],
    },
  },
};

const score = new StructuredMessageFactory({
  jsonSchema,
  contentModelName: "Score",
  formatString: "{name} got {points:.1f} ({passed})",
});

function issuesOf(action: () => unknown): string[] {
  try {
    action();
  } catch (error) {
    expect(error).toBeInstanceOf(MessageError);
    return (error as MessageError).issues.map((issue) => issue.path);
  }
  throw new Error("nothing was thrown");
}

describe("the content of a structured message", () => {
  test("has the order of the schema, with its defaults", () => {
    const content = score.content({ tags: [{ key: "x" }], points: 2.5, name: "Ann" });
    expect(JSON.stringify(content)).toBe(
      '{"name":"Ann","points":2.5,"passed":true,"notes":null,"tags":[{"key":"x","weight":1}]}',
    );
  });

  test("loses fields that the schema does not have", () => {
    expect(score.content({ name: "Ann", points: 1, mood: "good" })).not.toHaveProperty("mood");
  });

  test("may be null for a field that may be omitted without a default", () => {
    const factory = new StructuredMessageFactory({
      jsonSchema: {
        type: "object",
        properties: { a: { type: "string" }, b: { type: "integer" } },
        required: ["a"],
      },
    });
    expect(factory.content({ a: "x", b: null })).toEqual({ a: "x", b: null });
    expect(factory.content({ a: "x" })).toEqual({ a: "x", b: null });
  });

  test("reads numbers and booleans that are written as text, and keeps a text that is allowed", () => {
    const either = { anyOf: [{ type: "integer" }, { type: "string" }] };
    const factory = new StructuredMessageFactory({
      jsonSchema: {
        type: "object",
        properties: {
          count: { type: "integer" },
          share: { type: "number" },
          sure: { type: "boolean" },
          maybe: { anyOf: [{ type: "integer" }, { type: "null" }] },
          either,
        },
      },
    });
    expect(
      factory.content({ count: "5", share: "0.5", sure: "true", maybe: "7", either: "5" }),
    ).toEqual({ count: 5, share: 0.5, sure: true, maybe: 7, either: "5" });
    expect(() => factory.content({ count: "five" })).toThrow("count");
  });

  test.each(['{"id": 9007199254740993, "count": 2}', '{"id": "9007199254740993", "count": "2"}'])(
    "has only integers that the model wrote: %s",
    (answer) => {
      const of = (type: string | string[]): StructuredMessageFactory =>
        new StructuredMessageFactory({
          jsonSchema: {
            type: "object",
            properties: { id: { type }, count: { type: "integer" } },
            required: ["id", "count"],
          },
        });
      for (const type of ["string", ["integer", "string"]])
        expect(of(type).parse(answer)).toEqual({ id: "9007199254740993", count: 2 });
      for (const type of ["integer", "number"]) {
        expect(issuesOf(() => of(type).parse(answer))).toEqual(["id"]);
        expect(() => of(type).parse(answer)).toThrow(/id: is 9007199254740993.*as a string/);
      }
    },
  );

  test("does not share defaults with other messages", () => {
    const first = score.content({ name: "A", points: 1 });
    (first["tags"] as unknown[]).push("changed");
    expect(score.content({ name: "B", points: 1 })["tags"]).toEqual([]);
  });

  test("keeps unnamed properties where the schema allows them", () => {
    const factory = new StructuredMessageFactory({
      jsonSchema: { type: "object", properties: {}, additionalProperties: true },
    });
    expect(factory.content({ any: 1 })).toEqual({ any: 1 });
  });

  test("follows the alternative of a union that fits, and all parts of an allOf", () => {
    const factory = new StructuredMessageFactory({
      jsonSchema: {
        type: "object",
        properties: {
          shape: {
            oneOf: [
              { type: "object", properties: { side: { type: "number" } }, required: ["side"] },
              {
                type: "object",
                properties: { radius: { type: "number" }, unit: { default: "cm" } },
                required: ["radius"],
              },
            ],
          },
          owner: { allOf: [{ $ref: "#/$defs/Named" }], properties: { age: { default: 1 } } },
        },
        $defs: {
          Named: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
        },
      },
    });
    expect(factory.content({ shape: { radius: 2 }, owner: { name: "x" } })).toEqual({
      shape: { radius: 2, unit: "cm" },
      owner: { name: "x", age: 1 },
    });
  });

  test("that does not fit is refused with the wrong places", () => {
    expect(issuesOf(() => score.content({ name: "Ed" }))).toEqual(["points"]);
    expect(issuesOf(() => score.content({ name: 1, points: "two" }))).toEqual(["name", "points"]);
    expect(issuesOf(() => score.content({ name: "a", points: 1, passed: null }))).toEqual([
      "passed",
    ]);
    expect(
      issuesOf(() => score.content({ name: "a", points: 1, tags: [{ key: "k" }, {}] })),
    ).toEqual(["tags[1].key"]);
    expect(issuesOf(() => score.content([1]))).toEqual([""]);
  });

  test("is read from the text of a model", () => {
    expect(score.parse('{"name": "Ann", "points": 1}')).toMatchObject({ name: "Ann" });
    expect(issuesOf(() => score.parse("Sure! Here is it"))).toEqual([""]);
  });
});

describe("structured messages", () => {
  test("bear the name of the content and its format", () => {
    const message = score.create(testOrigin(), {
      source: "maker",
      content: { name: "Cy", points: 10.26 },
    });
    expect(message).toMatchObject({
      id: "id-0",
      source: "maker",
      format_string: "{name} got {points:.1f} ({passed})",
      type: "StructuredMessage[Score]",
    });
    expect(toText(message)).toBe("Cy got 10.3 (True)");
  });

  test("can be made without the format", () => {
    const content = { name: "Di", points: 1 };
    const message = score.create(testOrigin(), { source: "maker", content, withFormat: false });
    expect(message.format_string).toBeNull();
  });
});

describe("the component of a structured message", () => {
  test("is dumped as it was loaded", () => {
    expect(dumpComponent(score)).toEqual({
      provider: "autogen_agentchat.messages.StructuredMessageFactory",
      component_type: "structured_message",
      version: 1,
      component_version: 1,
      config: {
        json_schema: jsonSchema,
        format_string: "{name} got {points:.1f} ({passed})",
        content_model_name: "Score",
      },
    });
  });

  test("names the content in its JSON", () => {
    const { configSchema } = StructuredMessageFactory.component;
    expect(configSchema.safeParse({ json_schema: jsonSchema }).error?.issues).toMatchObject([
      { path: ["content_model_name"] },
    ]);
  });

  test("is refused with a schema that cannot be used", () => {
    const make =
      (schema: { [key: string]: string | { [key: string]: { [key: string]: string } } }) => () =>
        new StructuredMessageFactory({ jsonSchema: schema });
    expect(make({})).toThrow(ValueError);
    expect(make({ type: "object", properties: { a: { $ref: "#/$defs/No" } } })).toThrow(
      "#/$defs/No",
    );
    expect(make({ type: "object", properties: { a: { pattern: "(" } } })).toThrow(
      "properties.a.pattern",
    );
  });
});

describe("a format", () => {
  test.each([
    ["{nme} passed", /there is no "nme", only \{name\}, \{points\}/],
    ["{tags[0][colour]}", /there is no "colour", only \{key\}, \{weight\}/],
    ["{name[first]}", /"first" cannot be looked up in a string/],
    ["{tags[first]}", /"first" is not the index of a list/],
    ["{name:.1f}", /is not a format for text/],
    ["{name", /is never closed/],
  ])("that cannot be filled is refused before a model is called: %s", (formatString, message) => {
    expect(() => new StructuredMessageFactory({ jsonSchema, formatString })).toThrow(
      expect.objectContaining({
        name: "ValueError",
        issues: [{ path: "format_string", message: expect.stringMatching(message) }],
      }),
    );
  });

  test.each([
    "{tags[0][key]:>5} {tags[1][weight]:d} {notes!r} {points:.2f} {passed}",
    "{name:>{points}} {{nme}}",
  ])("that uses fields of the schema is accepted: %s", (formatString) => {
    expect(new StructuredMessageFactory({ jsonSchema, formatString }).formatString).toBe(
      formatString,
    );
  });

  test("may name any field where the schema leaves the fields open", () => {
    for (const open of [{ type: "object" }, { ...jsonSchema, additionalProperties: true }]) {
      const factory = new StructuredMessageFactory({ jsonSchema: open, formatString: "{mood[a]}" });
      expect(factory.formatString).toBe("{mood[a]}");
    }
  });
});
