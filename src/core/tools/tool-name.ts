import { hash64 } from "../hash.ts";
import { beginningOf } from "../cut.ts";
import type { Issue } from "../errors.ts";

/** The names of tools that all makers of models take. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const NOT_IN_NAMES = /[^a-zA-Z0-9_-]/g;
const MAX_NAME = 64;
/** Digits of the hash by which names that would be the same stay different. */
const ENDING = 8;

export function isToolName(name: string): boolean {
  return TOOL_NAME.test(name);
}

/** The mistakes in the name of a new tool. @param path its key in the config */
export function toolNameMistakes(name: string, path = "name"): Issue[] {
  if (isToolName(name)) return [];
  const message = `must be 1 to ${MAX_NAME} letters, digits, "_" and "-", because makers of models refuse other names of tools: write "${fittingName(name)}"`;
  return [{ path, message }];
}

/** A name with the characters that makers of models refuse replaced, cut to what they take. */
export function fittingName(name: string): string {
  if (isToolName(name)) return name;
  return beginningOf(name.replaceAll(NOT_IN_NAMES, "_"), MAX_NAME) || "_";
}

/** A name that fits, with an ending that only the whole name has. */
export function fittingNameOf(whole: string): string {
  return withEnding(fittingName(whole), hash64(whole).slice(0, ENDING));
}

/** The first of `name`, `name_2`, `name_3` ... that is free. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let number = 2; taken.has(free); number++) free = withEnding(name, String(number));
  return free;
}

function withEnding(name: string, ending: string): string {
  return `${name.slice(0, MAX_NAME - ending.length - 1)}_${ending}`;
}
