import type { Json } from "../../json.ts";
import type { Inspection } from "../inspection.ts";
import { arrayKeywords } from "./arrays.ts";
import { compositionKeywords } from "./composition.ts";
import { numberKeywords } from "./numbers.ts";
import { objectKeywords } from "./objects.ts";
import { stringKeywords } from "./strings.ts";
import { unevaluatedKeywords } from "./unevaluated.ts";
import { valueKeywords } from "./values.ts";

export type Keyword = (inspection: Inspection, argument: Json) => void;

/** In the order in which they are applied: the last need to know what the others have described. */
export const KEYWORDS: ReadonlyMap<string, Keyword> = new Map(
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
