import { expect, test } from "vitest";
import { settingsOf } from "../../component/settings.ts";

const component = {
  type: "object",
  properties: { provider: { type: "string" }, config: { type: "object" } },
  required: ["provider", "config"],
};
const orNull = (schema: object) => ({ anyOf: [schema, { type: "null" }] });

const kindsOf = (properties: object, required: string[] = []) =>
  Object.fromEntries(
    settingsOf({ type: "object", properties, required }).map(({ key, kind }) => [key, kind]),
  );

test("each setting has a field for the values that its schema allows", () => {
  expect(
    kindsOf({
      text: { type: ["string", "null"] },
      system_message: orNull({ type: "string" }),
      count: orNull({ type: "integer" }),
      stream: { type: "boolean", default: false },
      method: orNull({ type: "string", enum: ["GET", "POST"] }),
      approval: orNull({ type: "string", const: "human" }),
      sources: orNull({ type: "array", items: { type: "string" } }),
      memory: orNull({ type: "array", items: component }),
      model_context: orNull(component),
      stop: orNull({ anyOf: [{ type: "array" }, { type: "string" }] }),
      headers: { type: "object" },
      many: { type: ["number", "object"] },
      metadata: { type: "object" },
    }),
  ).toEqual({
    text: "text",
    system_message: "long text",
    count: "number",
    stream: "switch",
    method: "choice",
    approval: "choice",
    sources: "texts",
    memory: "components",
    model_context: "component",
    stop: "text",
    headers: "json",
    many: "json",
  });
});

test("required and common settings come first, also those of all parts of a class", () => {
  const settings = settingsOf({
    allOf: [
      { type: "object", properties: { extra: {}, host: { type: "string" } }, required: ["zone"] },
      { type: "object", properties: { zone: { type: "string" }, name: { type: "string" } } },
    ],
  });
  expect(settings.map(({ key }) => key)).toEqual(["name", "host", "zone", "extra"]);
  expect(settings.filter(({ first }) => first).map(({ key }) => key)).toEqual([
    "name",
    "host",
    "zone",
  ]);
});

test("a setting has its choices and the value that applies while it is not set", () => {
  const [method] = settingsOf({
    properties: { method: { type: "string", enum: ["GET", "POST"], default: "GET" } },
  });
  expect(method).toMatchObject({ choices: ["GET", "POST"], usual: "GET", title: "Method" });
});
