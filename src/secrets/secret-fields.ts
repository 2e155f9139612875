import { looksLikeComponent } from "../core/component/checks/limits.ts";
import { pathOf } from "../core/issues.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { isAddressName, isHarmlessParameter, mapUrlSecrets, REDIS_URL } from "./url-secrets.ts";

/** The keys and indexes from the component to a value inside it. */
export type Keys = readonly (string | number)[];

/** A place in component JSON that holds a secret: plain, sealed or redacted. */
export interface SecretField {
  /** `component.config.participants[0].config.model_client.config.api_key`: for messages, since keys may contain dots. */
  path: string;
  /** The same without ambiguity. */
  id: string;
  /** To the text that is the secret or, as a URL may, contains it. */
  keys: Keys;
  /** The part of a URL that is the secret; empty for other texts. */
  part: string;
  value: string;
  /** The innermost component around it. */
  owner: JsonObject;
  /** True if earlier versions stored it as plain text. */
  maybePlain: boolean;
}

const NAMES =
  /(^|[_-])(api[_-]?key|(access|secret|private)[_-]?key|(access|auth|bearer|refresh)?token|secret|password|passphrase|authorization|bearer|credentials?)$/i;

/** The same in camel case. */
const CAMEL_NAMES =
  /[a-z0-9](ApiKey|AccessKey|SecretKey|PrivateKey|Token|Secret|Password|Credentials?)$/;

/** An address of Redis without a password. Any other text in its place is or contains a secret. */
const PLAIN_REDIS_URL = /^rediss?:\/\/[^@?]*$/i;

/** True if a key is named as the secret that it holds: `api_key`, `Authorization`, `accessToken`. */
export function isSecretName(key: string): boolean {
  return NAMES.test(key) || CAMEL_NAMES.test(key);
}

/** The environment of a program. */
export const ENVIRONMENT = "env";

/** Maps of headers and of a program's environment: which of them are secret depends on the receiver, so all count. */
const SECRET_MAPS: ReadonlySet<string> = new Set(["headers", "default_headers", ENVIRONMENT]);

/** Parameters of URLs: all count but a few that are known to be harmless. */
const QUERY = "default_query";

/** May hold JSON Schema, in which a property can have the name of a secret without being one. */
const SCHEMAS: ReadonlySet<string> = new Set([
  "json_schema",
  "schema",
  "parameters",
  "input_schema",
]);

/** Maps from names to schemas in JSON Schema. */
const NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);

/** A reference to a secret of the Worker, or to a value of the run, is not a secret itself. */
const REFERENCE =
  /^(?:(?:Bearer )?env:[A-Za-z_][A-Za-z0-9_]*|context:(?:user|subject|tenant|team|run|metadata\..+))$/s;

type Replace = (field: SecretField) => string;

/**
 * A copy of component JSON in which `replace` has put another text for each secret. References (`env:NAME`) and empty
 * texts stay as they are.
 */
export function mapSecrets<T extends JsonObject>(component: T, replace: Replace): T {
  const context: FieldContext = {
    name: "",
    keys: [],
    owner: component,
    secret: false,
    numbers: false,
    schema: false,
    maybePlain: false,
  };
  return mapObject(component, context, replace) as T;
}

/** All secrets of component JSON. */
export function secretFields(component: JsonObject): SecretField[] {
  const fields: SecretField[] = [];
  mapSecrets(component, (field) => {
    fields.push(field);
    return field.value;
  });
  return fields;
}

interface FieldContext {
  /** The key, or that of the list. */
  name: string;
  keys: Keys;
  owner: JsonObject;
  /** True if a text here is a secret. */
  secret: boolean;
  /** True if a number is as good as its text, and as secret. */
  numbers: boolean;
  /** True for a part of a JSON Schema. */
  schema: boolean;
  maybePlain: boolean;
}

function mapValue(value: Json, context: FieldContext, replace: Replace): Json {
  if (context.numbers && typeof value === "number") {
    return replace(fieldOf(context, String(value), context.maybePlain));
  }
  if (typeof value === "string") return mapText(value, context, replace);
  if (typeof value !== "object" || value === null) return value;
  if (!Array.isArray(value)) return mapObject(value, context, replace);
  return value.map((item, index) =>
    mapValue(item, { ...context, keys: [...context.keys, index], numbers: false }, replace),
  );
}

function mapText(value: string, context: FieldContext, replace: Replace): string {
  if (value === "" || REFERENCE.test(value)) return value;
  if (context.secret) return replace(fieldOf(context, value, context.maybePlain));
  if (!isAddressName(context.name)) return value;
  return mapUrlSecrets(value, (part, text) =>
    REFERENCE.test(text) ? text : replace(fieldOf(context, text, true, part)),
  );
}

/** @param part one part of a URL */
function fieldOf(
  { keys, owner }: FieldContext,
  value: string,
  maybePlain: boolean,
  part = "",
): SecretField {
  const path = pathOf(keys, "component") + part;
  return { path, id: secretId(keys, part), keys, part, value, owner, maybePlain };
}

/** The id of a secret at a place, see {@link SecretField}. */
export function secretId(keys: Keys, part: string): string {
  return JSON.stringify([...keys, part]);
}

function mapObject(value: JsonObject, context: FieldContext, replace: Replace): JsonObject {
  const owner = looksLikeComponent(value) ? value : context.owner;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (holdsNoText(item) || (context.schema && NAMED_SCHEMAS.has(key))) return [key, item];
      return [key, mapValue(item, placeOf(key, item, context, owner), replace)];
    }),
  );
}

function holdsNoText(item: Json): boolean {
  return item === null || typeof item === "boolean";
}

function placeOf(key: string, item: Json, outer: FieldContext, owner: JsonObject): FieldContext {
  const named =
    isSecretName(key) ||
    SECRET_MAPS.has(key) ||
    (key === REDIS_URL && typeof item === "string" && !PLAIN_REDIS_URL.test(item));
  const inQuery = outer.name === QUERY && !isHarmlessParameter(key);
  return {
    name: key,
    keys: [...outer.keys, key],
    owner,
    secret: outer.secret || named || inQuery,
    numbers: outer.numbers || SECRET_MAPS.has(key) || inQuery,
    schema: outer.schema || (SCHEMAS.has(key) && isJsonSchema(item)),
    maybePlain: outer.maybePlain || SCHEMAS.has(key) || (inQuery && !named),
  };
}

const JSON_TYPES: ReadonlySet<unknown> = new Set([
  "object",
  "array",
  "string",
  "number",
  "integer",
  "boolean",
  "null",
]);

function isJsonSchema(value: Json): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const types = [value["type"]].flat();
  return (
    (types.length > 0 && types.every((type) => JSON_TYPES.has(type))) ||
    typeof value["properties"] === "object" ||
    ["$ref", "$schema", "anyOf", "oneOf", "allOf"].some((key) => key in value)
  );
}
