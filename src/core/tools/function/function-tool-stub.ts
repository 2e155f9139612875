import { isJsonObject, type Json, type JsonObject } from "../../json.ts";
import type { ToolSchema } from "../../models/chat-completion-client.ts";

/** The first line of a stub. AutoGen takes the text after the first "def " for the function's name. */
const HEADER =
  "# A tool that is written in TypeScript and registered in the program that dumped it.";
const STUB = new RegExp(
  `^${HEADER}\\ndef \\w+\\([^\\n]*\\) -> str:\\n    raise NotImplementedError\\([^\\n]*\\)\\n?$`,
);

const IDENTIFIER = /^[A-Za-z]\w*$/;
const KEYWORDS = new Set(
  "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield".split(
    " ",
  ),
);
/** Names that AutoGen and its pydantic models use themselves. */
const RESERVED =
  /^(cancellation_token|model_(config|fields|computed_fields|extra|fields_set|construct|copy|dump|dump_json|json_schema|parametrized_name|post_init|rebuild|validate|validate_json|validate_strings))$/;

/** True for a stub, which only stands for a registered tool. */
export function isStub(source: string): boolean {
  return STUB.test(source);
}

/**
 * Python that stands for a tool written in TypeScript, because AutoGen refuses a FunctionTool without source. It has the tool's
 * parameters, those aside whose names Python or pydantic refuses, and raises when it is called.
 */
export function stubOf({ name, parameters }: ToolSchema): {
  source_code: string;
  global_imports: JsonObject[];
} {
  const signature = signatureOf(parameters ?? {});
  const message = `The tool "${name}" is written in TypeScript and runs where it is registered. Replace this function to run it in Python.`;
  const imports = ["Annotated", "Any", "Literal"].filter((used) =>
    new RegExp(`\\b${used}\\b`).test(signature),
  );
  return {
    source_code: `${HEADER}\ndef ${functionName(name)}(${signature}) -> str:\n    raise NotImplementedError(${literal(message)})\n`,
    global_imports: imports.length === 0 ? [] : [{ module: "typing", imports }],
  };
}

function functionName(tool: string): string {
  const name = tool.replace(/\W/g, "_");
  return IDENTIFIER.test(name) && !KEYWORDS.has(name) ? name : `tool_${name}`;
}

/** By keyword only, so that parameters keep their order whether or not they have a default. */
function signatureOf({ properties, required }: JsonObject): string {
  const needed = new Set(Array.isArray(required) ? required : []);
  const parameters = Object.entries(isJsonObject(properties) ? properties : {})
    .filter(([name]) => IDENTIFIER.test(name) && !KEYWORDS.has(name) && !RESERVED.test(name))
    .map(([name, schema]) => parameter(name, schema, needed.has(name)));
  return parameters.length === 0 ? "" : ["*", ...parameters].join(", ");
}

function parameter(name: string, schema: Json, required: boolean): string {
  const { default: value, description } = isJsonObject(schema) ? schema : {};
  const omissible = !required && value === undefined;
  const type = union([...typesOf(schema), ...(omissible ? ["None"] : [])]);
  const annotation =
    typeof description === "string" ? `Annotated[${type}, ${literal(description)}]` : type;
  return `${name}: ${annotation}${required ? "" : ` = ${literal(value ?? null)}`}`;
}

const SCALARS: { readonly [type: string]: string } = {
  string: "str",
  integer: "int",
  number: "float",
  boolean: "bool",
  null: "None",
};

/** The types that a schema allows, `Any` for what annotations do not express. */
function typesOf(schema: Json | undefined): string[] {
  if (!isJsonObject(schema)) return ["Any"];
  const { type, anyOf, oneOf, items, additionalProperties } = schema;
  const values = "const" in schema ? [schema["const"]] : schema["enum"];
  if (Array.isArray(values)) return [literalType(values)];
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices)) return choices.flatMap(typesOf);
  if (Array.isArray(type)) return type.flatMap((each) => typesOf({ ...schema, type: each }));
  if (type === "array") return [`list[${union(typesOf(items))}]`];
  if (type === "object") return [`dict[str, ${union(typesOf(additionalProperties))}]`];
  return [(typeof type === "string" && SCALARS[type]) || "Any"];
}

function literalType(values: readonly (Json | undefined)[]): string {
  const fits = (value: Json | undefined): boolean =>
    value === null || ["string", "boolean"].includes(typeof value) || Number.isSafeInteger(value);
  return values.length > 0 && values.every(fits)
    ? `Literal[${values.map((value) => literal(value ?? null)).join(", ")}]`
    : "Any";
}

function union(types: readonly string[]): string {
  if (types.length === 0 || types.includes("Any")) return "Any";
  return [...new Set(types)].join(" | ");
}

/** JSON as a literal of Python, which shares the escapes of strings. */
function literal(value: Json): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const entries = Object.entries(value).map(
    ([key, item]) => `${JSON.stringify(key)}: ${literal(item)}`,
  );
  return `{${entries.join(", ")}}`;
}
