/** Why a maker refuses a schema; undefined where it takes it. */
export type SchemaRefusal = (schema: unknown) => string | undefined;

type Schema = { readonly [keyword: string]: unknown };

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const TYPES: ReadonlySet<unknown> = new Set([
  undefined,
  "string",
  "number",
  "integer",
  "boolean",
  "object",
  "array",
  "null",
]);
const UNIONS = ["anyOf", "oneOf", "allOf"];

/** A schema below another one, with the names and keywords that lead to it. */
interface Part {
  schema: Schema;
  path: string;
  depth: number;
}

/** All schemas in one, which a maker reads whether or not something refers to them; or what is not a schema. */
function partsOf(root: Schema): { parts: Part[]; problem?: string } {
  const parts: Part[] = [];
  let problem: string | undefined;
  const visit = (value: unknown, path: string, depth: number): void => {
    if (!isSchema(value)) {
      problem ??= `${path}: ${JSON.stringify(value)} is not of type 'object'`;
      return;
    }
    parts.push({ schema: value, path, depth });
    for (const keyword of ["properties", "$defs", "definitions"])
      for (const [name, one] of Object.entries(value[keyword] ?? {}))
        visit(one, `${path}.${keyword}.${name}`, keyword === "properties" ? depth + 1 : 1);
    for (const keyword of [...UNIONS, "prefixItems"]) {
      const list = value[keyword];
      if (Array.isArray(list)) list.forEach((one) => visit(one, `${path}.${keyword}`, depth));
      else if (list !== undefined) problem ??= `${path}.${keyword} is not a list`;
    }
    if (value["items"] !== undefined) visit(value["items"], `${path}.items`, depth + 1);
  };
  visit(root, "schema", 1);
  return { parts, ...(problem !== undefined && { problem }) };
}

function leadsSomewhere(root: Schema, reference: unknown): boolean {
  if (typeof reference !== "string" || !reference.startsWith("#")) return false;
  let node: unknown = root;
  for (const key of reference.split("/").slice(1)) node = isSchema(node) ? node[key] : undefined;
  return isSchema(node);
}

function topRefusal(schema: unknown): string | undefined {
  if (!isSchema(schema) || schema["type"] !== "object") return 'schema must be of type "object"';
  if (!isSchema(schema["properties"])) return "object schema missing properties";
  const found = [...UNIONS, "enum", "not", "$ref"].find((keyword) => keyword in schema);
  return found && `schema must not have ${found} at the top level`;
}

/** @param refuses why one part is refused */
function refusal(refuses: (part: Part, root: Schema) => string | undefined): SchemaRefusal {
  return (schema) => {
    const top = topRefusal(schema);
    if (top !== undefined) return top;
    const { parts, problem } = partsOf(schema as Schema);
    if (problem !== undefined) return problem;
    for (const part of parts) {
      const found = commonRefusal(part, schema as Schema) ?? refuses(part, schema as Schema);
      if (found !== undefined) return `${part.path}: ${found}`;
    }
    return undefined;
  };
}

function commonRefusal({ schema }: Part, root: Schema): string | undefined {
  const { type, items, required, $ref } = schema;
  const isType = [type].flat().every((one) => TYPES.has(one));
  if (!isType) return `${JSON.stringify(type)} is not a type`;
  if (type === "array" && items === undefined && schema["prefixItems"] === undefined)
    return "array schema missing items";
  if (required !== undefined && !Array.isArray(required)) return "required is not a list";
  if ("$ref" in schema && !leadsSomewhere(root, $ref)) return `${String($ref)} leads nowhere`;
  return undefined;
}

/** Tools that are not strict. https://platform.openai.com/docs/guides/function-calling */
export const openAIRefusal = refusal(() => undefined);

/** Claude's tools. https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use */
export const claudeRefusal = refusal(({ schema }) => {
  const names = Object.keys(schema["properties"] ?? {});
  const odd = names.find((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name));
  if (odd !== undefined) return `property keys should match pattern: ${odd}`;
  if (typeof schema["exclusiveMinimum"] === "boolean") return "JSON schema is invalid";
  const { required } = schema;
  if (Array.isArray(required) && new Set(required).size < required.length)
    return "JSON schema is invalid: required has a name twice";
  return undefined;
});

const GEMINI_KEYWORDS = new Set(
  "type format title description nullable enum items minItems maxItems properties required minProperties maxProperties minLength maxLength pattern anyOf minimum maximum".split(
    " ",
  ),
);

const GEMINI_FORMATS: ReadonlySet<unknown> = new Set(
  "date-time enum int32 int64 float double".split(" "),
);

/** https://ai.google.dev/api/caching#Schema */
export const geminiRefusal = refusal(({ schema }) => {
  const unknown = Object.keys(schema).find((keyword) => !GEMINI_KEYWORDS.has(keyword));
  if (unknown !== undefined) return `Unknown name "${unknown}": Cannot find field.`;
  const { type, format, enum: values, required, properties, anyOf } = schema;
  if (Array.isArray(type)) return "Proto field is not repeating, cannot start list.";
  if (type === "null") return "type null is not allowed";
  if (anyOf !== undefined && type !== undefined) return "any_of must be without a type";
  if (format !== undefined && !GEMINI_FORMATS.has(format))
    return "only 'enum' and 'date-time' are supported for STRING type";
  if (Array.isArray(values)) {
    if (type !== "string") return "enum: only allowed for STRING type";
    if (values.some((value) => typeof value !== "string" || value === ""))
      return "enum: cannot be empty";
    if (values.length > 100) return "The specified schema produces too many states for serving.";
  }
  const missing = ((required ?? []) as string[]).find(
    (name) => !Object.hasOwn((properties ?? {}) as Schema, name),
  );
  return missing && `required: property is not defined: ${missing}`;
});

/** Why a maker's server refuses the tools of a request to chat completions. A tool without parameters has none to refuse. */
export function toolsRefusal(model: string, tools: unknown): string | undefined {
  if (!Array.isArray(tools)) return undefined;
  const refuses = model.startsWith("gemini-")
    ? geminiRefusal
    : model.startsWith("claude-")
      ? claudeRefusal
      : openAIRefusal;
  for (const [index, tool] of tools.entries()) {
    const parameters = (tool as { function?: Schema } | null)?.function?.["parameters"];
    const found = parameters === undefined ? undefined : refuses(parameters);
    if (found !== undefined) return `tools[${index}].function.parameters: ${found}`;
  }
  return undefined;
}

const STRICT_KEYWORDS = new Set(
  "type format title description enum const items minItems maxItems properties required additionalProperties pattern anyOf minimum maximum exclusiveMinimum exclusiveMaximum multipleOf $ref $defs definitions".split(
    " ",
  ),
);
const STRICT_FORMATS: ReadonlySet<unknown> = new Set(
  "date-time time date duration email hostname ipv4 ipv6 uuid".split(" "),
);

/** https://platform.openai.com/docs/guides/structured-outputs#supported-schemas */
export const strictRefusal: SchemaRefusal = (root) => {
  let values = 0;
  return refusal(({ schema, depth }) => {
    const unknown = Object.keys(schema).find((keyword) => !STRICT_KEYWORDS.has(keyword));
    if (unknown !== undefined) return `'${unknown}' is not permitted`;
    if ("$ref" in schema) {
      const beside = Object.keys(schema).filter((keyword) => keyword !== "$ref");
      return beside.length > 0 ? `$ref cannot have keywords ${beside.join(", ")}` : undefined;
    }
    if (schema["type"] === undefined && schema["anyOf"] === undefined)
      return "schema must have a 'type' key";
    const { format, pattern, properties = {}, required, enum: list } = schema;
    if (format !== undefined && !STRICT_FORMATS.has(format))
      return `${JSON.stringify(format)} is not a valid format`;
    if (typeof pattern === "string" && /\(\?[=!<]/.test(pattern))
      return "lookaround is not allowed";
    if (Array.isArray(list)) values += list.length;
    if (values > 1000) return "too many enum values";
    if (depth > 10) return "more than 10 levels of nesting";
    if (![schema["type"]].flat().includes("object")) return undefined;
    if (schema["additionalProperties"] !== false)
      return "'additionalProperties' is required to be supplied and to be false";
    const names = Object.keys(properties as Schema);
    const isWhole = Array.isArray(required) && names.every((name) => required.includes(name));
    return isWhole ? undefined : "'required' must include every key in properties";
  })(root);
};
