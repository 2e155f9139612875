// Every class checks its options here: in plain JavaScript nothing else detects a misspelled option or one of the wrong
// type.

import * as z from "zod";
import { shortForm, ValueError } from "../errors.ts";
import { issuesOf, listIssues } from "../issues.ts";
import { unknownOption } from "./option-names.ts";

/** The schema of options in camel case. It must list all of them, or it does not compile. */
export type OptionsSchema<Options> = z.ZodObject<{
  [Name in keyof Required<Options>]: z.ZodType;
}>;

/** Options without those that are undefined, which would hide a default. */
export type Given<Options> = { [Name in keyof Options]: Exclude<Options[Name], undefined> };

/**
 * Checks options and returns those that are given: one that is undefined counts as left out.
 *
 * @param owner the class or function whose options they are
 * @throws ValueError that names every option that is unknown, missing or of the wrong kind
 */
export function checkOptions<Options extends object>(
  schema: OptionsSchema<Options>,
  options: Options,
  owner: string,
): Given<Options> {
  const names = Object.keys(schema.shape);
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw noOptions(owner, names, options);
  }
  const given = Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  );
  const unknown = Object.keys(given)
    .filter((name) => !names.includes(name))
    .map((name) => ({ path: name, message: unknownOption(name, names) }));
  if (unknown.length > 0 && isOfAClass(options)) throw noOptions(owner, names, options);
  const { error } = schema.safeParse(given, { error: aboutList });
  const issues = [...unknown, ...(error === undefined ? [] : issuesOf(error))];
  if (issues.length === 0) return given as Given<Options>;
  throw new ValueError(`Invalid options of ${owner}: ${listIssues(issues)}`, { issues });
}

function noOptions(owner: string, names: readonly string[], raw: unknown): ValueError {
  return new ValueError(
    `The options of ${owner} must be an object with ${names.join(", ")}, not ${shortForm(raw)}`,
  );
}

/** True for a component or another object that has keys of its own, in the place of options. */
function isOfAClass(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== null && prototype !== Object.prototype;
}

/** The text for what is not a list where a list of checked items must be. */
const aboutList: z.core.$ZodErrorMap = ({ code, expected, input }) =>
  code === "invalid_type" && expected === "array" ? mustBe("a list", input) : undefined;

/**
 * Checks an argument that is not one of several options. Returns it.
 *
 * @throws ValueError that names the argument and its class
 */
export function checkArgument<Value>(
  schema: z.ZodType,
  value: Value,
  owner: string,
  argument: string,
): Value {
  const { error } = schema.safeParse(value, { error: aboutList });
  if (error === undefined) return value;
  const issues = issuesOf(error, argument);
  throw new ValueError(`Invalid argument of ${owner}: ${listIssues(issues)}`, { issues });
}

/** A schema for values that pass the test. @param what completes "must be ..." */
export function valueThat(what: string, test: (value: unknown) => boolean): z.ZodType {
  return z.custom(test, {
    error: ({ input }) => mustBe(what, input),
  });
}

function mustBe(what: string, input: unknown): string {
  return input === undefined
    ? `is missing; it must be ${what}`
    : `must be ${what}, not ${shortForm(input)}`;
}

/** A schema for objects with these methods. @param what completes "must be ..." */
export function objectWith(what: string, ...methods: string[]): z.ZodType {
  return valueThat(what, (value) => hasMethods(value, methods));
}

export function hasMethods(value: unknown, methods: readonly string[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  return methods.every((name) => typeof (value as Record<string, unknown>)[name] === "function");
}

export const aText = valueThat("a text", (value) => typeof value === "string");
export const aBoolean = valueThat("true or false", (value) => typeof value === "boolean");
export const aNumber = valueThat("a number", (value) => typeof value === "number");
export const aFunction = valueThat("a function", (value) => typeof value === "function");
export const aList = valueThat("a list", Array.isArray);
/** A schema for a value that its class checks itself, or that may be missing. */
export const anything = z.unknown().optional();
export const texts = valueThat(
  "a list of texts",
  (value) => Array.isArray(value) && value.every((item) => typeof item === "string"),
);

export const aModelClient = objectWith(
  'a model client, such as new OpenAIChatCompletionClient({ model: "gpt-5-mini" })',
  "create",
  "createStream",
);
export const aModelContext = objectWith(
  "a model context, such as new BufferedChatCompletionContext(20)",
  "addMessage",
  "getMessages",
);
export const aWorkbench = objectWith(
  "a workbench, such as new StaticWorkbench(tools)",
  "listTools",
  "callTool",
);
export const aMemory = objectWith("a memory, such as new ListMemory()", "updateContext", "query");
export const aCondition = objectWith(
  "a termination condition, such as new MaxMessageTermination(10)",
  "initialState",
  "check",
);
export const aCodeExecutor = objectWith(
  "a code executor, such as new SandboxCodeExecutor()",
  "executeCodeBlocks",
);
export const anAgent = objectWith("an agent", "onMessagesStream", "onReset");
export const aTeam = objectWith("a team", "begin", "turn");
