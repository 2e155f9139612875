import { isJsonObject, type Json, type JsonObject } from "../../json.ts";
import type { ToolSchema } from "../chat-completion-client.ts";
import type { Encoding } from "./tokenizer.ts";

type Encode = (text: string) => number;

// OpenAI's figures, of which the cookbook has the counts for one tool without nested fields.
// https://cookbook.openai.com/examples/how_to_count_tokens_with_tiktoken

/** A tool, by vocabulary: the older models need more. */
const PER_TOOL = { cl100k_base: 10, o200k_base: 7 };
const PER_PROPERTIES = 3;
const PER_PROPERTY = 3;
const PER_CHOICE = 3;
/** The first choice needs no separator. */
const BEFORE_CHOICES = -3;
const PER_KEYWORD = 2;
/** After the last tool. */
const END = 12;

/** The tokens of the tools of a request. */
export function toolsTokens(
  tools: readonly ToolSchema[],
  encoding: Encoding,
  encode: Encode,
): number {
  if (tools.length === 0) return 0;
  return tools.reduce(
    (sum, { name, description = "", parameters = {} }) =>
      sum +
      PER_TOOL[encoding] +
      encode(`${name}:${withoutStop(description)}`) +
      propertiesTokens(parameters, encode),
    END,
  );
}

function propertiesTokens({ properties }: JsonObject, encode: Encode): number {
  const entries = Object.entries(isJsonObject(properties) ? properties : {});
  if (entries.length === 0) return 0;
  return entries.reduce(
    (sum, [key, schema]) => sum + PER_PROPERTY + propertyTokens(key, schema, encode),
    PER_PROPERTIES,
  );
}

/** A property with what its value has inside. The cookbook has no figures for titles, defaults and fields inside of fields. */
function propertyTokens(key: string, schema: Json, encode: Encode): number {
  if (!isJsonObject(schema)) return encode(key);
  const { description, title, default: initial } = schema;
  const about = typeof description === "string" ? withoutStop(description) : "";
  let tokens = encode(`${key}:${typeOf(schema)}:${about}`) + choicesTokens(schema["enum"], encode);
  if (typeof title === "string") tokens += PER_KEYWORD + encode(title);
  if (initial !== undefined) tokens += PER_KEYWORD + encode(JSON.stringify(initial));
  for (const inner of [schema, ...insideOf(schema)]) tokens += propertiesTokens(inner, encode);
  return tokens;
}

/** The type as TypeScript has it, in which OpenAI shows tools to its models. */
function typeOf({ type, anyOf, oneOf }: JsonObject): string {
  const options = anyOf ?? oneOf;
  if (Array.isArray(options)) return options.filter(isJsonObject).map(typeOf).join("|");
  return [type]
    .flat()
    .filter((one) => typeof one === "string")
    .join("|");
}

function choicesTokens(choices: Json | undefined, encode: Encode): number {
  if (!Array.isArray(choices)) return 0;
  return choices.reduce<number>(
    (sum, choice) =>
      sum + PER_CHOICE + encode(typeof choice === "string" ? choice : JSON.stringify(choice)),
    BEFORE_CHOICES,
  );
}

/** The schemas of a value's items and of its alternatives. */
function insideOf({ items, anyOf, oneOf }: JsonObject): JsonObject[] {
  return [items ?? [], anyOf ?? [], oneOf ?? []].flat().filter(isJsonObject);
}

function withoutStop(text: string): string {
  return text.endsWith(".") ? text.slice(0, -1) : text;
}
