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
  /(^|[_-])(api[_-]?key|(access|secret|private)[_-]?key|(access|auth|bearer|refresh)?token|secret|password|passphrase|authorization|bearer|credentials?)$/i;

/** The same in camel case. */
const CAMEL_NAMES =
  /[a-z0-9](ApiKey|AccessKey|SecretKey|PrivateKey|Token|Secret|Password|Credentials?)$/;

/** Maps of headers and of a program's environment: which of them are secret depends on the other side, so all count. */
const SECRET_MAPS: ReadonlySet<string> = new Set(["headers", "default_headers", "env"]);

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
  return mapObject(
    component,
    { path: "component", owner: component, secret: false, numbers: false },
    replace,
  );
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

function isSecret(name: string): boolean {
  return NAMES.test(name) || CAMEL_NAMES.test(name) || SECRET_MAPS.has(name);
}

interface Place {
  path: string;
  owner: JsonObject;
  /** Whether a text here is a secret. */
  secret: boolean;
  /** Whether a number is as good as its text, and as secret. */
  numbers: boolean;
}

function mapValue(value: Json, place: Place, replace: (field: SecretField) => string): Json {
  const { path, owner, secret, numbers } = place;
  if (numbers && typeof value === "number") return replace({ path, value: String(value), owner });
  if (typeof value === "string") {
    const plain = secret && value !== "" && !REFERENCE.test(value);
    return plain ? replace({ path, value, owner }) : value;
  }
  if (typeof value !== "object" || value === null) return value;
  if (!Array.isArray(value)) return mapObject(value, place, replace);
  return value.map((item, index) =>
    mapValue(item, { path: pathOf([index], path), owner, secret, numbers: false }, replace),
  );
}

function mapObject(
  value: JsonObject,
  { path, owner, secret, numbers }: Place,
  replace: (field: SecretField) => string,
): JsonObject {
  const inner = looksLikeComponent(value) ? value : owner;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (SCHEMAS.has(key)) return [key, item];
      const place = {
        path: pathOf([key], path),
        owner: inner,
        secret: secret || isSecret(key),
        numbers: numbers || SECRET_MAPS.has(key),
      };
      return [key, mapValue(item, place, replace)];
    }),
  );
}
