import { ValueError } from "../errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import { formatValue } from "./format-value.ts";
import { pythonRepr, pythonStr } from "./python.ts";

/**
 * Fills `{name}` placeholders the way Python's `str.format` does: `{score:.1f}`, `{name!r}`, `{a[key]}`, `{list[0]}`,
 * and `{{`, `}}` for braces. Only own keys of `values` can be reached.
 *
 * @throws ValueError when the template is malformed, names something that is not there, or a value does not suit
 * its specification
 */
export function formatPython(template: string, values: JsonObject): string {
  return parseTemplate(template)
    .map((part) => {
      if (typeof part === "string") return part;
      const value = part.path.reduce<Json>((inner, key) => own(inner, key, part.text), values);
      return fillPlaceholder(part, value);
    })
    .join("");
}

/** One placeholder: `{name[key]!r:spec}`. */
export interface Placeholder {
  /** The placeholder as written, without the braces. */
  text: string;
  /** The name, and the keys looked up in its value. */
  path: readonly string[];
  conversion: string | undefined;
  spec: string;
}

/**
 * The text of a placeholder whose value was looked up. @throws ValueError when the value does not fit the specification
 */
export function fillPlaceholder({ conversion, spec }: Placeholder, value: Json): string {
  return formatValue(converted(value, conversion), spec);
}

/**
 * Parses a template into literal text and placeholders, in order.
 *
 * @throws ValueError when it is malformed
 */
export function parseTemplate(template: string): (string | Placeholder)[] {
  const parts: (string | Placeholder)[] = [];
  let position = 0;
  while (position < template.length) {
    const char = template.charAt(position);
    if (char !== "{" && char !== "}") {
      const next = template.slice(position).search(/[{}]/);
      const end = next < 0 ? template.length : position + next;
      parts.push(template.slice(position, end));
      position = end;
    } else if (template.charAt(position + 1) === char) {
      parts.push(char);
      position += 2;
    } else if (char === "}") {
      throw new ValueError(`"${template}" has a single "}": write "}}" for a brace`);
    } else {
      const end = placeholderEnd(template, position);
      parts.push(placeholder(template.slice(position + 1, end)));
      position = end + 1;
    }
  }
  return parts;
}

function placeholderEnd(template: string, start: number): number {
  let open = 0;
  for (let index = start; index < template.length; index++) {
    if (template[index] === "{") open++;
    else if (template[index] === "}" && --open === 0) return index;
  }
  throw new ValueError(`"${template}" has a "{" that is never closed: write "{{" for a brace`);
}

const PLACEHOLDER = /^([^!:[{}]+)((?:\[[^\]{}]+\])*)(?:!([^:]*))?(?::(.*))?$/su;

function placeholder(text: string): Placeholder {
  const match = PLACEHOLDER.exec(text);
  if (match === null) {
    throw new ValueError(
      `"{${text}}" is not a placeholder: write {name}, {name[key]} or {name:format}`,
    );
  }
  const [, name = "", lookups = "", conversion, spec = ""] = match;
  const keys = lookups === "" ? [] : lookups.slice(1, -1).split("][");
  return { text, path: [name, ...keys], conversion, spec };
}

function own(value: Json, key: string, text: string): Json {
  if (Array.isArray(value) && /^\d+$/.test(key)) {
    const item = value[Number(key)];
    if (item !== undefined) return item;
    throw new ValueError(`"{${text}}": the list has ${value.length} items`);
  }
  if (isJsonObject(value)) {
    const item = Object.hasOwn(value, key) ? value[key] : undefined;
    if (item !== undefined) return item;
    const knownNames = Object.keys(value).map((name) => `{${name}}`);
    throw new ValueError(
      `"{${text}}": there is no "${key}", only ${knownNames.join(", ") || "nothing"}`,
    );
  }
  throw new ValueError(`"{${text}}": "${key}" cannot be looked up in ${pythonRepr(value)}`);
}

function converted(value: Json, conversion: string | undefined): Json {
  switch (conversion) {
    case undefined:
      return value;
    case "s":
      return pythonStr(value);
    case "r":
      return pythonRepr(value);
    default:
      throw new ValueError(`"!${conversion}" is not a conversion: use !s or !r`);
  }
}
