import { isJsonObject, type JsonObject } from "../../../../core/json.ts";

/** Values that ask for nothing, besides null and empty ones. The component of a team sets the parameters of its models. */
const HARMLESS = {
  frequency_penalty: [0],
  parallel_tool_calls: [true],
  presence_penalty: [0],
  service_tier: ["auto", "default"],
  "stream_options.include_obfuscation": [false],
  "text.verbosity": ["medium"],
  truncation: ["disabled"],
};
/** Parameters whose members are looked at one by one. */
const NESTED = new Set(["stream_options", "text"]);
const MOST_NAMES = 64;
/** Longer names are those of no parameter, and each answer repeats the names. */
const LONGEST_NAME = 64;

/**
 * Names of the parameters of a request that have no effect: all that are not known.
 *
 * @param known names of those that have an effect or are refused, `outer.inner` for members
 * @param own values of the protocol's parameters that ask for nothing
 */
export function ignoredIn(
  body: JsonObject,
  known: ReadonlySet<string>,
  own: Readonly<Record<string, readonly unknown[]>> = {},
): string[] {
  const harmless = new Map<string, readonly unknown[]>(Object.entries({ ...HARMLESS, ...own }));
  return Object.entries(body)
    .flatMap(([name, value]): [string, unknown][] =>
      NESTED.has(name) && isJsonObject(value)
        ? Object.entries(value).map(([inner, one]) => [`${name}.${inner}`, one])
        : [[name, value]],
    )
    .filter(([name, value]) => {
      if (known.has(name) || name.length > LONGEST_NAME || isEmpty(value)) return false;
      return harmless.get(name)?.includes(value) !== true;
    })
    .map(([name]) => name)
    .toSorted()
    .slice(0, MOST_NAMES);
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}
