import { labelOf } from "./setting-labels.ts";

type Schema = { readonly [key: string]: unknown };

/** A setting of a class, as the editor shows it. */
export interface Setting {
  key: string;
  title: string;
  required: boolean;
  /** True if it is shown before the others are unfolded. */
  first: boolean;
  kind:
    | "text"
    | "long text"
    | "number"
    | "switch"
    | "choice"
    | "texts"
    | "component"
    | "components"
    | "json";
  choices: readonly string[];
  about: string;
  /** The value that applies while it is not set. */
  usual: unknown;
}

/** The settings that are shown first, in this order. */
const FIRST = [
  "name",
  "description",
  "model",
  "api_key",
  "base_url",
  "host",
  "path",
  "method",
  "executor",
  "code_executor",
  "text",
  "max_messages",
  "conditions",
];

const LONG_TEXTS = /(_message|_prompt|_instruction|^instruction|^instructions|^source_code)$/;

/** Keys that AutoGen has for other purposes, and that belong to the version of a class. */
const LEFT_OUT = new Set(["metadata", "azure_ad_token_provider"]);

/** The settings of a class by the JSON Schema of its config. */
export function settingsOf(config: Schema): Setting[] {
  const { properties, required } = merged(config);
  return Object.entries(properties)
    .filter(([key]) => !LEFT_OUT.has(key))
    .map(([key, schema]) => settingOf(key, schema, required.includes(key)))
    .toSorted((a, b) => rankOf(a) - rankOf(b));
}

function rankOf({ key, required }: Setting): number {
  const index = FIRST.indexOf(key);
  if (index !== -1) return index;
  return FIRST.length + (required ? 0 : 1);
}

function settingOf(key: string, given: Schema, required: boolean): Setting {
  const schema = withoutNull(given);
  const { type, items, description } = schema;
  const choices = Array.isArray(schema["enum"]) ? schema["enum"] : [schema["const"]];
  return {
    key,
    title: labelOf(key),
    required,
    first: required || FIRST.includes(key),
    kind: kindOf(key, schema, type, items),
    choices: choices.filter((choice) => typeof choice === "string"),
    about: typeof description === "string" ? description : "",
    usual: schema["default"],
  };
}

function kindOf(key: string, schema: Schema, type: unknown, items: unknown): Setting["kind"] {
  if (isComponent(schema)) return "component";
  if (type === "array" && isSchema(items)) {
    if (isComponent(items)) return "components";
    return items["type"] === "string" ? "texts" : "json";
  }
  if (type === "boolean") return "switch";
  if (type === "number" || type === "integer") return "number";
  if (type !== "string") return "json";
  if ("enum" in schema || "const" in schema) return "choice";
  return LONG_TEXTS.test(key) ? "long text" : "text";
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null;
}

/** Component JSON: a provider and its config. */
function isComponent({ required, properties }: Schema): boolean {
  const names = Array.isArray(required) ? required : [];
  return isSchema(properties) && names.includes("provider") && names.includes("config");
}

/** A field is left empty where JSON could have null. If several types are allowed, a text is preferred. */
function withoutNull(schema: Schema): Schema {
  const { type, anyOf } = schema;
  if (Array.isArray(type)) {
    const [first, second] = type.filter((kind) => kind !== "null");
    return second === undefined ? { ...schema, type: first as unknown } : {};
  }
  if (!Array.isArray(anyOf)) return schema;
  const others = (anyOf as Schema[]).filter((kind) => kind["type"] !== "null");
  const [only] = others;
  const chosen = others.length === 1 ? only : others.find((kind) => kind["type"] === "string");
  const { description, default: usual } = schema;
  return chosen === undefined ? {} : { description, default: usual, ...withoutNull(chosen) };
}

interface Merged {
  properties: { readonly [key: string]: Schema };
  required: readonly string[];
}

/** The properties of a schema and of all parts of its `allOf`. */
function merged(schema: Schema): Merged {
  const { allOf, properties, required } = schema;
  const parts = Array.isArray(allOf) ? (allOf as Schema[]).map(merged) : [];
  const own = isSchema(properties) ? (properties as Merged["properties"]) : {};
  return {
    properties: Object.assign({}, own, ...parts.map((part) => part.properties)) as typeof own,
    required: [
      ...(Array.isArray(required) ? (required as string[]) : []),
      ...parts.flatMap((part) => part.required),
    ],
  };
}
