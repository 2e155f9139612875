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
export function mapSecrets(
  component: JsonObject,
  replace: (field: SecretField) => string,
): JsonObject {
  return mapObject(component, { path: "component", owner: component, secret: false }, replace);
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

interface Place {
  path: string;
  owner: JsonObject;
  /** Whether a text here is a secret. */
  secret: boolean;
}

function mapValue(value: Json, place: Place, replace: (field: SecretField) => string): Json {
  const { path, owner, secret } = place;
  if (typeof value === "string") {
    const plain = secret && value !== "" && !REFERENCE.test(value);
    return plain ? replace({ path, value, owner }) : value;
  }
  if (typeof value !== "object" || value === null) return value;
  if (!Array.isArray(value)) return mapObject(value, place, replace);
  return value.map((item, index) =>
    mapValue(item, { path: pathOf([index], path), owner, secret }, replace),
  );
}

function mapObject(
  value: JsonObject,
  { path, owner, secret }: Place,
  replace: (field: SecretField) => string,
): JsonObject {
  const inner = looksLikeComponent(value) ? value : owner;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (SCHEMAS.has(key)) return [key, item];
      const place = {
        path: pathOf([key], path),
        owner: inner,
        secret: secret || NAMES.test(key) || HEADER_MAPS.has(key),
      };
      return [key, mapValue(item, place, replace)];
    }),
  );
}
