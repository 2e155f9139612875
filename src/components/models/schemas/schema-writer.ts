import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import { resolveReference } from "../../../core/json-schema/keywords/reference.ts";
import { isTooMuch } from "../../../core/json-schema/pattern/work-limit.ts";
import type { SchemaDialect } from "./dialects.ts";
import { inPlainKeywords, mergedParts, typeByContent } from "./plain-keywords.ts";

/** Keywords that describe and do not constrain: leaving one out needs no note. */
const ANNOTATIONS = new Set(
  "$schema $id $anchor $comment title description default example examples deprecated readOnly writeOnly".split(
    " ",
  ),
);

/** Parts of a schema past this number are left open: references that are written out multiply. */
const MOST_PARTS = 5000;

/** The longest list of values that a description has in place of an `enum`. */
const LONGEST_LIST = 2000;

/** Parts of patterns that only some servers know: looking around, references and classes of Unicode. */
const SPECIAL_PATTERN = /\(\?[^:]|\\[1-9bBkpP]/;

/** Writes one schema in the dialect of a maker. What cannot be said in it is left out, and noted. */
export class SchemaWriter {
  readonly #root: JsonObject;
  readonly #dialect: SchemaDialect;
  /** Omissions, in words: the written schema allows more. */
  readonly losses = new Set<string>();
  /** Values that the written schema forbids although the given one allows them, in words. */
  readonly conflicts = new Set<string>();
  readonly #open: JsonObject[] = [];
  #parts = 0;
  #values = 0;
  #properties = 0;

  constructor(root: JsonObject, dialect: SchemaDialect) {
    this.#root = root;
    this.#dialect = dialect;
  }

  write(): JsonObject {
    try {
      return this.#whole();
    } catch (error) {
      if (!isTooMuch(error)) throw error;
      this.#leaveOpen();
      return { type: "object", properties: {} };
    }
  }

  #whole(): JsonObject {
    const { $defs, definitions, ...top } = this.#root;
    const written = this.#schema(top, 1);
    if (!this.#dialect.references) return written;
    return {
      ...written,
      ...(isJsonObject($defs) && { $defs: this.#each($defs, 1) }),
      ...(isJsonObject(definitions) && { definitions: this.#each(definitions, 1) }),
    };
  }

  #each(schemas: JsonObject, depth: number): JsonObject {
    return Object.fromEntries(
      Object.entries(schemas).map(([name, schema]) => [name, this.#value(schema, depth)]),
    );
  }

  /** A schema that may be a boolean. */
  #value(value: Json, depth: number): JsonObject {
    return isJsonObject(value) ? this.#schema(value, depth) : this.#schema({}, depth);
  }

  #schema(input: JsonObject, depth: number): JsonObject {
    if (typeof input["$ref"] === "string") return this.#reference(input, input["$ref"], depth);
    const { strict, keywords, deepest = Infinity } = this.#dialect;
    if (depth > deepest || (++this.#parts > MOST_PARTS && keywords !== undefined)) {
      this.#leaveOpen();
      return { type: "object" };
    }
    const merged = keywords === undefined ? input : mergedParts(input, this.#root);
    const renamed = inPlainKeywords(merged, this.#dialect);
    const plain = keywords === undefined ? renamed : typeByContent(renamed);
    const written: JsonObject = {};
    for (const [keyword, value] of Object.entries(plain)) {
      const result = this.#keyword(keyword, value, plain, depth);
      if (result !== undefined) written[keyword] = result;
    }
    this.#describe(plain, written);
    if (written["type"] === "array" && written["items"] === undefined && !written["prefixItems"])
      written["items"] = this.#schema({}, depth + 1);
    if (strict) this.#requireAll(written);
    return written;
  }

  #leaveOpen(): void {
    const found = "parts that are nested too deep or are too many";
    (this.#dialect.strict ? this.conflicts : this.losses).add(found);
  }

  #keyword(keyword: string, value: Json, schema: JsonObject, depth: number): Json | undefined {
    const { keywords, formats, freePatterns } = this.#dialect;
    if (keywords !== undefined && !keywords.has(keyword)) {
      const isOpen = keyword === "additionalProperties" && value === false;
      if (!ANNOTATIONS.has(keyword) && !isOpen) this.losses.add(`"${keyword}"`);
      return undefined;
    }
    switch (keyword) {
      case "$schema":
        return undefined;
      case "properties":
        return this.#propertiesOf(value, depth);
      case "required":
        return this.#requiredOf(value, schema);
      case "$defs":
      case "definitions":
        return isJsonObject(value) ? this.#each(value, 1) : undefined;
      case "patternProperties":
      case "dependentSchemas":
        return isJsonObject(value) ? this.#each(value, depth + 1) : undefined;
      case "items":
      case "contains":
      case "not":
      case "if":
      case "then":
      case "else":
      case "propertyNames":
        if (keyword === "items" && value === false) return undefined;
        return this.#value(value, depth + 1);
      case "additionalProperties":
        return typeof value === "boolean" ? value : this.#value(value, depth + 1);
      case "anyOf":
      case "oneOf":
      case "allOf":
      case "prefixItems":
        return Array.isArray(value) ? value.map((one) => this.#value(one, depth)) : undefined;
      case "format":
        if (typeof value !== "string" || formats === undefined || formats.has(value)) return value;
        this.losses.add(`the format "${value}"`);
        return undefined;
      case "pattern":
        if (typeof value !== "string" || freePatterns || !SPECIAL_PATTERN.test(value)) return value;
        this.losses.add(`the pattern ${value}`);
        return undefined;
      case "enum":
        return this.#enumOf(value, schema);
      default:
        return value;
    }
  }

  #propertiesOf(value: Json, depth: number): JsonObject {
    const names = Object.entries(isJsonObject(value) ? value : {}).filter(
      ([name, one]) => one !== false && this.#mayHave(name),
    );
    this.#properties += names.length;
    if (this.#properties > (this.#dialect.mostProperties ?? Infinity))
      this.conflicts.add("more properties than it takes");
    return Object.fromEntries(names.map(([name, one]) => [name, this.#value(one, depth + 1)]));
  }

  #mayHave(name: string): boolean {
    return this.#dialect.propertyNames?.test(name) ?? true;
  }

  #requiredOf(value: Json, { properties }: JsonObject): Json[] {
    const known = isJsonObject(properties) ? properties : {};
    const names = Array.isArray(value) ? [...new Set(value)] : [];
    return names.filter(
      (name) =>
        typeof name === "string" &&
        this.#mayHave(name) &&
        (this.#dialect.freeRequired || (Object.hasOwn(known, name) && known[name] !== false)),
    );
  }

  #enumOf(value: Json, schema: JsonObject): Json | undefined {
    if (!Array.isArray(value)) return undefined;
    this.#values += value.length;
    return this.#isEnumTaken(value, schema) ? value : undefined;
  }

  #isEnumTaken(values: Json[], { type }: JsonObject): boolean {
    const { textValues, mostValues } = this.#dialect;
    const areTexts = values.every((value) => typeof value === "string" && value !== "");
    if (textValues && (type !== "string" || !areTexts)) return false;
    if (mostValues === undefined) return true;
    return values.length <= mostValues.each && this.#values <= mostValues.all;
  }

  /** Says in words what the dialect has no keyword for: values of an `enum`, and properties whose names it refuses. */
  #describe(raw: JsonObject, written: JsonObject): void {
    const lines: string[] = [];
    const { enum: values, properties, required } = raw;
    if (Array.isArray(values) && written["enum"] === undefined) {
      this.losses.add("an enum that it does not take");
      const list = values.map((value) => JSON.stringify(value)).join(", ");
      if (list.length <= LONGEST_LIST) lines.push(`One of: ${list}.`);
    }
    for (const [name, schema] of Object.entries(isJsonObject(properties) ? properties : {})) {
      if (schema === false || this.#mayHave(name)) continue;
      this.losses.add(`the property ${JSON.stringify(name)}`);
      const isRequired = Array.isArray(required) && required.includes(name);
      lines.push(
        `${isRequired ? "Needs" : "Takes"} also the property ${JSON.stringify(name)}: ${JSON.stringify(schema)}.`,
      );
      // The model may then write the property.
      delete written["additionalProperties"];
    }
    if (lines.length === 0) return;
    const before = typeof raw["description"] === "string" ? [raw["description"]] : [];
    written["description"] = [...before, ...lines].join("\n");
  }

  #reference(input: JsonObject, reference: string, depth: number): JsonObject {
    const { references, besideReferences } = this.#dialect;
    const { $ref: _, $schema: _schema, ...beside } = input;
    const target = resolveReference(reference, this.#root);
    if (target === undefined) {
      this.losses.add(`the reference ${reference}, which leads nowhere`);
      return this.#schema(beside, depth);
    }
    if (references) {
      const isAlone = Object.keys(beside).every((keyword) => ANNOTATIONS.has(keyword));
      if (besideReferences) return { $ref: reference, ...this.#schema(beside, depth) };
      if (isAlone) return { $ref: reference };
    }
    if (this.#open.includes(target)) {
      this.losses.add(`what ${reference} contains of itself`);
      return references ? { $ref: reference } : { type: typeNameOf(target) };
    }
    this.#open.push(target);
    const { $defs: _defs, definitions: _definitions, ...whole } = target;
    const written = this.#schema({ ...whole, ...beside }, depth);
    this.#open.pop();
    return written;
  }

  /** Closes an object and requires its properties, and finds what cannot be said so. */
  #requireAll(written: JsonObject): void {
    const { type, properties, required, anyOf } = written;
    if (type === undefined && anyOf === undefined) this.conflicts.add("values of any type");
    if (type !== "object" && !(Array.isArray(type) && type.includes("object"))) return;
    const names = Object.keys(isJsonObject(properties) ? properties : {});
    const needed = Array.isArray(required) ? required : [];
    const optional = names.filter((name) => !needed.includes(name));
    if (optional.length > 0)
      this.conflicts.add(`properties that may be left out (${optional.join(", ")})`);
    const others = written["additionalProperties"];
    if (others !== undefined && others !== false) this.conflicts.add("properties of any name");
    written["additionalProperties"] = false;
    written["properties"] ??= {};
    written["required"] ??= [];
  }
}

function typeNameOf({ type }: JsonObject): string {
  return typeof type === "string" ? type : "object";
}
