import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import {
  type Check,
  Inspection,
  type InspectedValue,
  type SchemaVerdict,
} from "./keywords/inspection.ts";
import { arrayKeywords } from "./keywords/arrays.ts";
import { compositionKeywords, unevaluatedKeywords } from "./keywords/composition.ts";
import { objectKeywords } from "./keywords/objects.ts";
import { stringKeywords } from "./keywords/strings.ts";
import { numberKeywords, valueKeywords } from "./keywords/values.ts";
import type { Pattern } from "./pattern/pattern.ts";
import type { WorkLimit } from "./pattern/work-limit.ts";

const GOOD: SchemaVerdict = { failures: [], described: new Set() };

type Keyword = (inspection: Inspection, argument: Json) => void;

/** In the order of application: the last keywords need the findings of the others. */
const KEYWORDS: ReadonlyMap<string, Keyword> = new Map(
  Object.entries({
    ...valueKeywords,
    ...numberKeywords,
    ...stringKeywords,
    ...compositionKeywords,
    ...objectKeywords,
    ...arrayKeywords,
    ...unevaluatedKeywords,
  } satisfies Record<string, Keyword>),
);

/** One check of a value: applies schemas to places, each schema to each place once. */
export class Validation implements Check {
  readonly root: JsonObject;
  readonly patterns: ReadonlyMap<string, Pattern>;
  readonly limit: WorkLimit;

  constructor(root: JsonObject, patterns: ReadonlyMap<string, Pattern>, limit: WorkLimit) {
    this.root = root;
    this.patterns = patterns;
    this.limit = limit;
  }

  /** @throws when the work exceeds its limit: {@link isTooMuch} */
  verdict(schema: Json, place: InspectedValue): SchemaVerdict {
    this.limit.spend();
    if (schema === false) {
      return { ...GOOD, failures: [{ keys: place.keys(), message: "is not allowed" }] };
    }
    if (!isJsonObject(schema)) return GOOD;
    const existing = place.verdicts.get(schema);
    if (existing !== undefined) return existing;
    // A schema that refers to itself at the same place adds nothing.
    place.verdicts.set(schema, GOOD);
    const inspection = new Inspection(this, schema, place);
    for (const [keyword, check] of KEYWORDS) {
      const argument = schema[keyword];
      if (argument !== undefined) check(inspection, argument);
    }
    place.verdicts.set(schema, inspection);
    return inspection;
  }
}
