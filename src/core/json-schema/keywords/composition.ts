import { type Json, isJsonObject } from "../../json.ts";
import type { Inspection, SchemaVerdict } from "./inspection.ts";
import { resolveReference } from "./reference.ts";

export const compositionKeywords = {
  $ref(inspection: Inspection, reference: Json): void {
    if (typeof reference !== "string") return;
    const target = resolveReference(reference, inspection.validation.root);
    if (target !== undefined) inspection.require(target);
  },

  allOf(inspection: Inspection, parts: Json): void {
    if (!Array.isArray(parts)) return;
    for (const part of parts) inspection.require(part);
  },

  anyOf(inspection: Inspection, options: Json): void {
    if (!Array.isArray(options)) return;
    const verdicts = options.map((option) => inspection.verdict(option));
    const accepting = verdicts.filter(isGood);
    for (const { described } of accepting) inspection.describe(described);
    if (accepting.length === 0) failUnion(inspection, verdicts);
  },

  oneOf(inspection: Inspection, options: Json): void {
    if (!Array.isArray(options)) return;
    const verdicts = options.map((option) => inspection.verdict(option));
    const [first, second] = verdicts.filter(isGood);
    if (first === undefined) failUnion(inspection, verdicts);
    else if (second === undefined) inspection.describe(first.described);
    else inspection.fail("matches several alternatives, but must match exactly one");
  },

  not(inspection: Inspection, schema: Json): void {
    if (inspection.accepts(schema)) inspection.fail("matches what the schema excludes");
  },

  if(inspection: Inspection, condition: Json): void {
    const verdict = inspection.verdict(condition);
    if (isGood(verdict)) inspection.describe(verdict.described);
    const branch = inspection.schema[isGood(verdict) ? "then" : "else"];
    if (branch !== undefined) inspection.require(branch);
  },
};

function isGood({ failures }: SchemaVerdict): boolean {
  return failures.length === 0;
}

/** If only one alternative has the type of the value, its issues are reported. */
function failUnion(inspection: Inspection, verdicts: readonly SchemaVerdict[]): void {
  const depth = inspection.place.keys().length;
  const sameType = verdicts.filter(
    ({ failures }) => !failures.some(({ keys, otherType }) => otherType && keys.length === depth),
  );
  const [only] = sameType;
  if (sameType.length === 1 && only !== undefined) inspection.add(...only.failures);
  else inspection.fail("matches none of the alternatives");
}

export const unevaluatedKeywords = {
  unevaluatedProperties(inspection: Inspection, schema: Json): void {
    if (!isJsonObject(inspection.value)) return;
    for (const name of Object.keys(inspection.value)) {
      if (!inspection.described.has(name)) inspection.requireOf(name, schema);
    }
  },

  unevaluatedItems(inspection: Inspection, schema: Json): void {
    if (!Array.isArray(inspection.value)) return;
    for (const index of inspection.value.keys()) {
      if (!inspection.described.has(index)) inspection.requireOf(index, schema);
    }
  },
};
