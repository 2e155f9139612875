import type { RJSFSchema, UiSchema } from "@rjsf/utils";
import { titleOf } from "../teams/kinds.ts";
import type { Catalogue } from "./catalogue.ts";

export interface FormSchema {
  schema: RJSFSchema;
  ui: UiSchema;
}

type Schema = { readonly [key: string]: unknown };

/** What is asked first, in this order; the rest is folded. */
const FIRST = [
  "name",
  "description",
  "system_message",
  "model",
  "api_key",
  "model_client",
  "participants",
  "team",
  "termination_condition",
  "max_turns",
  "graph",
  "tools",
  "handoffs",
  "code_executor",
  "text",
  "max_messages",
  "conditions",
];

const LONG_TEXTS = /(_message|_prompt|_instruction|^instruction|^source_code)$/;

/** What AutoGen has for others and a form would only be confused by. */
const LEFT_OUT = new Set(["workbench", "metadata", "azure_ad_token_provider"]);

/**
 * The schema of a config as a form can show it: components have fields of their own, null is left out, and what is no
 * simple field is JSON.
 */
export function configForm(config: Schema, catalogue: Catalogue): FormSchema {
  const made = fieldOf("", merged(config), catalogue);
  return { schema: { ...made.schema, title: "" }, ui: made.ui };
}

/** Whether a property is asked for before the others are unfolded. */
export function isFirst(name: string, { required }: RJSFSchema): boolean {
  return FIRST.includes(name) || required?.includes(name) === true;
}

function fieldOf(name: string, given: Schema, catalogue: Catalogue): FormSchema {
  const schema = withoutNull(given);
  const title = titleOf(name);
  const about = pick(schema, ["description", "default"]);
  if (isComponent(schema)) {
    return { schema: { type: "object", title }, ui: { "ui:field": "component" } };
  }
  const { type } = schema;
  if (type === "object" && typeof schema["properties"] === "object") {
    return objectOf(name, schema, catalogue);
  }
  if (type === "array" && isSchema(schema["items"])) {
    const items = fieldOf(singular(name), schema["items"], catalogue);
    const first = items.ui["ui:field"] === "component" ? catalogue.usual(name) : undefined;
    if (items.ui["ui:field"] === "json") return jsonOf(title);
    const item = { ...items.schema, ...(first && { default: { ...first } }) } as RJSFSchema;
    return {
      schema: { ...about, type: "array", title, items: item },
      ui: { items: items.ui },
    };
  }
  if (type === "boolean") return { schema: { ...about, type, title }, ui: {} };
  if (type === "number" || type === "integer") {
    return { schema: { ...about, ...bounds(schema), type, title }, ui: {} };
  }
  if (type === "string") {
    const choices = "const" in schema ? { enum: [schema["const"]] } : pick(schema, ["enum"]);
    const long = LONG_TEXTS.test(name)
      ? { "ui:widget": "textarea", "ui:options": { rows: 3 } }
      : {};
    const key = name === "api_key" ? { "ui:placeholder": "env:OPENAI_API_KEY" } : {};
    return { schema: { ...about, ...choices, type, title }, ui: { ...long, ...key } };
  }
  return jsonOf(title);
}

function objectOf(name: string, schema: Schema, catalogue: Catalogue): FormSchema {
  const properties: { [key: string]: RJSFSchema } = {};
  const ui: UiSchema = {};
  const given = Object.entries(schema["properties"] as { [key: string]: Schema });
  const place = (key: string): number => {
    const found = FIRST.indexOf(key);
    return found === -1 ? FIRST.length : found;
  };
  for (const [key, property] of given.toSorted(([a], [b]) => place(a) - place(b))) {
    if (LEFT_OUT.has(key)) continue;
    const made = fieldOf(key, property, catalogue);
    properties[key] = made.schema;
    ui[key] = made.ui;
  }
  const required = Array.isArray(schema["required"]) ? (schema["required"] as string[]) : [];
  return { schema: { type: "object", title: titleOf(name), properties, required }, ui };
}

function jsonOf(title: string): FormSchema {
  return { schema: { type: "object", title }, ui: { "ui:field": "json" } };
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null;
}

/** Component JSON: a provider and its config. */
function isComponent({ required, properties }: Schema): boolean {
  const names = Array.isArray(required) ? required : [];
  return isSchema(properties) && names.includes("provider") && names.includes("config");
}

/** A form leaves a field empty where JSON could have null. Of several kinds the first simple one is taken. */
function withoutNull(schema: Schema): Schema {
  const { type } = schema;
  if (Array.isArray(type)) {
    const [first, second] = type.filter((kind) => kind !== "null") as string[];
    return second === undefined ? { ...schema, type: first } : {};
  }
  const kinds = schema["anyOf"];
  if (!Array.isArray(kinds)) return schema;
  const others = (kinds as Schema[]).filter((kind) => kind["type"] !== "null");
  const [only] = others;
  const chosen = others.length === 1 ? only : others.find((kind) => kind["type"] === "string");
  return chosen === undefined
    ? {}
    : { ...pick(schema, ["description", "default"]), ...withoutNull(chosen) };
}

/** The properties of all parts of an `allOf`. */
function merged(schema: Schema): Schema {
  const parts = schema["allOf"];
  if (!Array.isArray(parts)) return schema;
  const all = (parts as Schema[]).map(merged);
  const properties: unknown[] = all.map((part) => part["properties"] ?? {});
  const required = all.flatMap((part) => (part["required"] as string[] | undefined) ?? []);
  return { type: "object", properties: Object.assign({}, ...properties) as unknown, required };
}

function pick(schema: Schema, keys: readonly string[]): Schema {
  return Object.fromEntries(
    keys.filter((key) => schema[key] != null).map((key) => [key, schema[key]]),
  );
}

/** Without the limits of what a number can be at all. */
function bounds(schema: Schema): Schema {
  const given = pick(schema, ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]);
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => Math.abs(Number(value)) < Number.MAX_SAFE_INTEGER),
  );
}

/** `participants` is a list of a `participant`. */
function singular(name: string): string {
  return name.endsWith("s") ? name.slice(0, -1) : name;
}
