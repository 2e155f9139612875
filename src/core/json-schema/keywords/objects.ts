import { isJsonObject, type Json, type JsonObject } from "../../json.ts";
import { type Inspection, InspectedValue } from "./inspection.ts";

export const objectKeywords = {
  required(inspection: Inspection, names: Json): void {
    const { value } = inspection;
    if (isJsonObject(value) && Array.isArray(names)) requireNames(inspection, value, names);
  },

  minProperties(inspection: Inspection, least: Json): void {
    const { value } = inspection;
    if (!isJsonObject(value) || typeof least !== "number") return;
    if (Object.keys(value).length < least)
      inspection.fail(`must have at least ${least} properties`);
  },

  maxProperties(inspection: Inspection, most: Json): void {
    const { value } = inspection;
    if (!isJsonObject(value) || typeof most !== "number") return;
    if (Object.keys(value).length > most) inspection.fail(`must have at most ${most} properties`);
  },

  propertyNames(inspection: Inspection, schema: Json): void {
    const { value, place } = inspection;
    if (!isJsonObject(value)) return;
    for (const name of Object.keys(value)) {
      if (!inspection.accepts(schema, new InspectedValue(name, place, name))) {
        inspection.fail("is not an allowed name of a property", [name]);
      }
    }
  },

  dependentRequired(inspection: Inspection, dependencies: Json): void {
    applyDependencies(inspection, dependencies);
  },

  dependentSchemas(inspection: Inspection, dependencies: Json): void {
    applyDependencies(inspection, dependencies);
  },

  /** Combines `dependentRequired` and `dependentSchemas`, before draft 2019-09. */
  dependencies(inspection: Inspection, dependencies: Json): void {
    applyDependencies(inspection, dependencies);
  },

  properties(inspection: Inspection, properties: Json): void {
    const { value, validation } = inspection;
    if (!isJsonObject(value) || !isJsonObject(properties)) return;
    for (const [name, schema] of Object.entries(properties)) {
      validation.limit.spend();
      if (Object.hasOwn(value, name)) inspection.requireOf(name, schema);
    }
  },

  patternProperties(inspection: Inspection, patterns: Json): void {
    const { value, validation } = inspection;
    if (!isJsonObject(value) || !isJsonObject(patterns)) return;
    for (const [source, schema] of Object.entries(patterns)) {
      const pattern = validation.patterns.get(source);
      for (const name of Object.keys(value)) {
        if (pattern?.test(name, validation.limit)) inspection.requireOf(name, schema);
      }
    }
  },

  additionalProperties(inspection: Inspection, schema: Json): void {
    const { value, validation } = inspection;
    if (!isJsonObject(value)) return;
    const { properties = {}, patternProperties = {} } = inspection.schema;
    const patterns = Object.keys(patternProperties ?? {}).map((key) =>
      validation.patterns.get(key),
    );
    for (const name of Object.keys(value)) {
      const named = isJsonObject(properties) && Object.hasOwn(properties, name);
      if (named || patterns.some((pattern) => pattern?.test(name, validation.limit))) continue;
      if (schema === false) inspection.fail("is not a known field", [name]);
      else inspection.requireOf(name, schema);
    }
  },
};

function requireNames(inspection: Inspection, value: JsonObject, names: readonly Json[]): void {
  inspection.validation.limit.spend(names.length);
  for (const name of names) {
    if (typeof name === "string" && !Object.hasOwn(value, name)) inspection.fail("missing", [name]);
  }
}

function applyDependencies(inspection: Inspection, dependencies: Json): void {
  const { value, validation } = inspection;
  if (!isJsonObject(value) || !isJsonObject(dependencies)) return;
  for (const [name, dependency] of Object.entries(dependencies)) {
    validation.limit.spend();
    if (!Object.hasOwn(value, name)) continue;
    if (Array.isArray(dependency)) requireNames(inspection, value, dependency);
    else inspection.require(dependency);
  }
}
