import { isJsonObject, type Json, type JsonObject, sortedJson } from "../../../../core/json.ts";

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
 * The parameters of a request that have no effect, by their names: all that are not known, unless they ask for nothing.
 *
 * @param known names of those that have an effect or are refused, `outer.inner` for members
 * @param own values of the protocol's parameters that ask for nothing
 */
export function ignoredIn(
  body: JsonObject,
  known: ReadonlySet<string>,
  own: Readonly<Record<string, readonly unknown[]>> = {},
): Map<string, Json> {
  const harmless = new Map<string, readonly unknown[]>(Object.entries({ ...HARMLESS, ...own }));
  const parameters = Object.entries(body).flatMap(([name, value]): [string, Json][] =>
    NESTED.has(name) && isJsonObject(value)
      ? Object.entries(value).map(([inner, one]) => [`${name}.${inner}`, one])
      : [[name, value]],
  );
  return new Map(
    parameters.filter(
      ([name, value]) =>
        !known.has(name) && !isEmpty(value) && harmless.get(name)?.includes(value) !== true,
    ),
  );
}

/** The names that an answer repeats. */
export function namesOf(ignored: ReadonlyMap<string, Json>): string[] {
  return [...ignored.keys()]
    .filter((name) => name.length <= LONGEST_NAME)
    .toSorted()
    .slice(0, MOST_NAMES);
}

/**
 * A text that is the same for requests that ask for the same, whatever the order of their keys. The form in which the answer is sent does
 * not count.
 *
 * @param parsed what the request asks for, with defaults
 */
export function identityOf(parsed: object, ignored: ReadonlyMap<string, Json>): string {
  const others = [...ignored].filter(([name]) => !name.startsWith("stream_options."));
  return sortedJson({ ...parsed, others: Object.fromEntries(others) });
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}
