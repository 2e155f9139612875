import { looksLikeComponent } from "../core/component/limits.ts";
import { pathOf } from "../core/issues.ts";
import type { Json, JsonObject } from "../core/json.ts";

/** A place in component JSON that holds a secret, plain, sealed or redacted. */
export interface SecretField {
  /** `component.config.participants[0].config.model_client.config.api_key` */
  path: string;
  value: string;
  /** The innermost component around it. */
  owner: JsonObject;
}

const NAMES =
  /(^|[_-])(api[_-]?key|apikey|access[_-]?key|token|secret|password|authorization|credential)$/i;

/** Maps of headers: which of them are secret depends on the server, so all count. */
const HEADER_MAPS: ReadonlySet<string> = new Set(["headers", "default_headers"]);

/** Hold JSON Schema, where a property may have the name of a secret without being one. */
const SCHEMAS: ReadonlySet<string> = new Set([
  "json_schema",
  "schema",
  "parameters",
  "input_schema",
]);

/** A reference to a secret of the Worker is none itself. */
const REFERENCE = /^(Bearer )?env:[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * A copy of component JSON in which `replace` has put another text for each secret. References (`env:NAME`) and empty
 * texts stay as they are.
 */
export async function mapSecrets(
  component: JsonObject,
  replace: (field: SecretField) => string | Promise<string>,
): Promise<JsonObject> {
  return (await mapValue(component, "component", component, false, replace)) as JsonObject;
}

/** All secrets of component JSON. */
export async function secretFields(component: JsonObject): Promise<SecretField[]> {
  const fields: SecretField[] = [];
  await mapSecrets(component, (field) => {
    fields.push(field);
    return field.value;
  });
  return fields;
}

async function mapValue(
  value: Json,
  path: string,
  owner: JsonObject,
  secret: boolean,
  replace: (field: SecretField) => string | Promise<string>,
): Promise<Json> {
  if (typeof value === "string") {
    const plain = secret && value !== "" && !REFERENCE.test(value);
    return plain ? replace({ path, value, owner }) : value;
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    return Promise.all(
      value.map((item, index) => mapValue(item, pathOf([index], path), owner, secret, replace)),
    );
  }
  const inner = looksLikeComponent(value) ? value : owner;
  const entries = Object.entries(value).map(async ([key, item]): Promise<[string, Json]> => {
    if (SCHEMAS.has(key)) return [key, item];
    // In a map of headers every text is one; in a secret object too.
    const isSecret = secret || NAMES.test(key) || HEADER_MAPS.has(key);
    return [key, await mapValue(item, pathOf([key], path), inner, isSecret, replace)];
  });
  return Object.fromEntries(await Promise.all(entries));
}
