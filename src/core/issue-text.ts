import type * as z from "zod";

type ZodIssue = z.core.$ZodIssue;

/** Zod's own texts. Those that a schema gives are sentences already. */
const OF_ZOD =
  /^(Invalid (input($|: )|option: expected|string: must|number: must|discriminator value|(key|value) in )|Too (big|small): expected|Unrecognized key)/;

function isOfZod({ code, message }: ZodIssue): boolean {
  return OF_ZOD.test(message) || (code === "invalid_format" && /^Invalid [\w .-]+$/.test(message));
}

/**
 * The fault of a value and what is allowed there, to follow its path: `must be a text, not a number`. A text of the
 * schema stays.
 *
 * @see issuesOf for unknown fields, and for unions of which one alternative fits best
 */
export function issueText(issue: ZodIssue): string {
  if (!isOfZod(issue)) return issue.message;
  const what = expected(issue);
  if (what !== undefined) return mustBe(what, received(issue));
  switch (issue.code) {
    case "too_big":
      return sizeText(issue, issue.maximum, issue.inclusive === false ? "less than" : "at most");
    case "too_small":
      return sizeText(issue, issue.minimum, issue.inclusive === false ? "more than" : "at least");
    case "invalid_key":
      return `is not an allowed key: it ${textOfAll(issue.issues)}`;
    case "invalid_element":
      return `has an item${issue.origin === "map" ? ` ${String(issue.key)}` : ""} that ${textOfAll(issue.issues)}`;
    case "invalid_union":
      return unionText(issue);
    case "unrecognized_keys":
      return "is not a known field";
    default:
      return "is not allowed";
  }
}

function mustBe(what: string, input: string | undefined): string {
  if (input === "undefined") return `is missing; it must be ${what}`;
  // A number that is not whole is a number, too.
  const isOfKind = input === undefined || (what === TYPES["int"] && input === TYPES["number"]);
  return isOfKind ? `must be ${what}` : `must be ${what}, not ${input}`;
}

/** Completes "must be ..."; undefined for issues that are about something else than the kind of a value. */
function expected(issue: ZodIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return TYPES[issue.expected] ?? issue.expected;
    case "invalid_value":
      return oneOf(issue.values.map(shown));
    case "invalid_format":
      return formatOf(issue);
    case "not_multiple_of":
      return `a multiple of ${issue.divisor}`;
    case "invalid_union":
      return alternatives(issue);
    default:
      return undefined;
  }
}

/** Zod's names of types, as they are expected. */
const TYPES: { readonly [type: string]: string } = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  bigint: "a whole number (BigInt)",
  boolean: "true or false",
  array: "a list",
  tuple: "a list",
  object: "an object",
  record: "an object",
  map: "a Map",
  set: "a Set",
  date: "a date",
  file: "a file",
  function: "a function",
  symbol: "a symbol",
  nan: "NaN",
  never: "left out",
  void: "left out",
  undefined: "left out",
  nonoptional: "given",
};

/** The same for the type of what was given, where that reads differently. */
const GIVEN: { readonly [type: string]: string } = {
  boolean: "a boolean",
  nan: "NaN",
  NaN: "NaN",
  undefined: "undefined",
};

/** Zod names the type of what was given in its text only. */
function received({ code, message, ...issue }: ZodIssue): string | undefined {
  if (code === "invalid_union") {
    const [first] = ("errors" in issue ? issue.errors : []).flat();
    return first && received(first);
  }
  const type = code === "invalid_type" ? /received (.+)$/.exec(message)?.[1] : undefined;
  return type && (GIVEN[type] ?? TYPES[type] ?? type);
}

const FORMATS: { readonly [format: string]: string } = {
  email: "an email address",
  url: "a URL, such as https://example.com",
  emoji: "an emoji",
  uuid: "a UUID",
  guid: "a GUID",
  datetime: "a time in ISO 8601 with its time zone, such as 2026-01-31T12:00:00Z",
  date: "a date such as 2026-01-31",
  time: "a time such as 12:00:00",
  duration: "a duration in ISO 8601, such as PT15M",
  ipv4: "an IPv4 address",
  ipv6: "an IPv6 address",
  mac: "a MAC address",
  cidrv4: "a range of IPv4 addresses, such as 10.0.0.0/8",
  cidrv6: "a range of IPv6 addresses, such as fd00::/8",
  base64: "base64",
  base64url: "base64url",
  json_string: "JSON",
  e164: "a phone number such as +431234567",
  jwt: "a JSON Web Token",
  lowercase: "in lower case",
  uppercase: "in upper case",
};

function formatOf(issue: Extract<ZodIssue, { code: "invalid_format" }>): string {
  const { format, pattern, prefix, suffix, includes } = issue as typeof issue & {
    [detail in "prefix" | "suffix" | "includes"]?: string;
  };
  if (prefix !== undefined) return `a text that begins with ${shown(prefix)}`;
  if (suffix !== undefined) return `a text that ends with ${shown(suffix)}`;
  if (includes !== undefined) return `a text with ${shown(includes)} in it`;
  const known = FORMATS[format];
  if (known !== undefined) return known;
  return format === "regex" || format === "template_literal"
    ? `a text that matches ${pattern}`
    : `in the format ${format}`;
}

const UNITS: { readonly [origin: string]: readonly [one: string, many: string] } = {
  string: ["character", "characters"],
  array: ["item", "items"],
  set: ["item", "items"],
  map: ["entry", "entries"],
  object: ["field", "fields"],
  file: ["byte", "bytes"],
};

function sizeText(
  { origin, exact }: Extract<ZodIssue, { code: "too_big" | "too_small" }>,
  bound: number | bigint,
  relation: string,
): string {
  const how = exact ? "exactly" : relation;
  const units = UNITS[origin];
  if (units === undefined) {
    const value = origin === "date" ? new Date(Number(bound)).toISOString() : String(bound);
    return `must be ${how} ${value}`;
  }
  if (how === "at least" && Number(bound) === 1) return "must not be empty";
  return `must have ${how} ${bound} ${units[Number(bound) === 1 ? 0 : 1]}`;
}

type UnionIssue = Extract<ZodIssue, { code: "invalid_union" }>;

/** The kinds of values that a union takes, if all of its alternatives fail by the kind of the value itself. */
function alternatives(issue: UnionIssue): string | undefined {
  if ("options" in issue && issue.options?.length) return oneOf(issue.options.map(shown));
  const kinds = issue.errors.map((issues) => {
    const [only] = issues;
    return issues.length === 1 && only?.path.length === 0 && isOfZod(only)
      ? expected(only)
      : undefined;
  });
  return kinds.length > 0 && kinds.every((kind) => kind !== undefined) ? oneOf(kinds) : undefined;
}

function unionText(issue: UnionIssue): string {
  if (issue.inclusive === false) return "fits more than one of the allowed forms";
  if (issue.discriminator !== undefined) return "is not one of the allowed kinds";
  const texts = new Set(issue.errors.map(textOfAll));
  return `fits none of the allowed forms: ${[...texts].join("; or ")}`;
}

/** The mistakes of an inner value: `must be a text`, or `name: must not be empty`. */
function textOfAll(issues: readonly ZodIssue[]): string {
  return issues
    .map((issue) => [...issue.path.map(String), issueText(issue)].join(": "))
    .join(" and ");
}

function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

function oneOf(values: readonly string[]): string {
  const unique = [...new Set(values)];
  const last = unique.at(-1) ?? "left out";
  return unique.length < 2 ? last : `${unique.slice(0, -1).join(", ")} or ${last}`;
}
