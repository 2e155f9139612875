/** The part of JSON Schema that the servers of one maker take. */
export interface SchemaDialect {
  /** The maker, as notes name it. */
  maker: string;
  /** The keywords that it takes. Default: all. */
  keywords?: ReadonlySet<string>;
  /** The formats that it takes, whatever their type. Default: all. */
  formats?: ReadonlySet<string>;
  /** Names of properties that it takes. Default: all. */
  propertyNames?: RegExp;
  /** The most values of one `enum`, and of all together. */
  mostValues?: { each: number; all: number };
  /** The most properties of all objects together. */
  mostProperties?: number;
  /** The deepest level of objects and lists. */
  deepest?: number;
  /** True if `$ref` may lead to `$defs`. Otherwise its target is written in its place. */
  references: boolean;
  /** True if other keywords may stand beside `$ref`. */
  besideReferences: boolean;
  /** True if null is the keyword `nullable`, not a type, and `type` one name. */
  nullable: boolean;
  /** True if values of `enum` must be texts. */
  textValues: boolean;
  /** True if `required` may name properties that are not described. */
  freeRequired: boolean;
  /** True if patterns may look ahead, look behind and refer back. */
  freePatterns: boolean;
  /** True if each object must be closed and require all of its properties, and each schema must have a type. */
  strict: boolean;
}

/** https://platform.openai.com/docs/guides/function-calling: function tools that are not strict. Most servers take the same. */
export const OPEN: SchemaDialect = {
  maker: "The model's server",
  references: true,
  besideReferences: true,
  nullable: false,
  textValues: false,
  freeRequired: true,
  freePatterns: true,
  strict: false,
};

/** https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use, and its refusals of names of properties. */
export const CLAUDE: SchemaDialect = {
  ...OPEN,
  maker: "Claude",
  propertyNames: /^[a-zA-Z0-9_.-]{1,64}$/,
};

/**
 * https://ai.google.dev/api/caching#Schema, the part of OpenAPI 3.0 that Gemini reads. Google refuses an enum with "too many
 * states" without a number.
 */
export const GEMINI: SchemaDialect = {
  maker: "Gemini",
  keywords: new Set([
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "items",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "anyOf",
    "minimum",
    "maximum",
  ]),
  formats: new Set(["date-time", "enum", "int32", "int64", "float", "double"]),
  mostValues: { each: 100, all: 500 },
  deepest: 30,
  references: false,
  besideReferences: false,
  nullable: true,
  textValues: true,
  freeRequired: false,
  freePatterns: false,
  strict: false,
};

/** https://platform.openai.com/docs/guides/structured-outputs#supported-schemas */
export const OPENAI_STRICT: SchemaDialect = {
  maker: "OpenAI's strict mode",
  keywords: new Set([
    "type",
    "format",
    "title",
    "description",
    "enum",
    "const",
    "items",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "additionalProperties",
    "pattern",
    "anyOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "$ref",
    "$defs",
    "definitions",
  ]),
  formats: new Set([
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
  ]),
  mostValues: { each: 1000, all: 1000 },
  mostProperties: 5000,
  deepest: 10,
  references: true,
  besideReferences: false,
  nullable: false,
  textValues: false,
  freeRequired: false,
  freePatterns: false,
  strict: true,
};

/**
 * The dialect of a model on a server with OpenAI's API.
 *
 * @param maker the maker's name, or the server's host where it is not known
 */
export function schemaDialectOf(model: string, maker: string): SchemaDialect {
  const name = (model.split("/").at(-1) ?? model).toLowerCase();
  if (name.startsWith("gemini") || /(^|\.)googleapis\.com(:|$)/.test(maker)) return GEMINI;
  if (name.startsWith("claude") || /(^|\.)anthropic\.com(:|$)/.test(maker)) return CLAUDE;
  return OPEN;
}
