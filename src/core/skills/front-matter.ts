import { isMap, isScalar, LineCounter, type Document, parseDocument } from "yaml";
import type { Issue } from "../errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import { MAX_SKILL_TEXT_BYTES, SKILL_FILE, SkillError } from "./skill-files.ts";

const MAX_FRONT_MATTER = 32_000;
/** Brackets inside of each other. The parser is recursive, and slow where they are many. */
const MAX_DEPTH = 32;
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1_024;
const MAX_COMPATIBILITY = 500;
/** The names of tools in `allowed-tools`. */
const MAX_TOOLS = 200;

/** The front matter begins behind its first line. */
const FIRST_LINE = 2;

/** The front matter of a `SKILL.md`, and the instructions below. */
export interface SkillText {
  name: string;
  description: string;
  /** The names in `allowed-tools`, without their patterns: `Bash` of `Bash(git:*)`. Null without the key. */
  allowedTools: readonly string[] | null;
  /** All keys of the front matter, also those that the format does not have. */
  frontMatter: JsonObject;
  /** The instructions. */
  text: string;
}

/** A mistake in a key of the front matter. */
type Mistake = (key: string, message: string) => void;

/**
 * Reads a `SKILL.md` by the rules of the open format (agentskills.io/specification).
 *
 * @param folder the name of the skill's folder, which its name must be; undefined if it has none
 * @throws SkillError with the lines and the rules
 */
export function readSkillText(
  bytes: Uint8Array<ArrayBuffer>,
  folder: string | undefined,
): SkillText {
  const { yaml, text } = splitText(decoded(bytes));
  const lines = new LineCounter();
  const { document, values } = parsed(yaml, lines);
  const issues: Issue[] = [];
  const mistake: Mistake = (key, message) => {
    issues.push(atLine(lineOf(document, lines, key), `${key} ${message}`));
  };
  const name = nameIn(values, folder, mistake);
  const description = textIn(values, "description", MAX_DESCRIPTION, mistake);
  if (values["compatibility"] !== undefined) {
    textIn(values, "compatibility", MAX_COMPATIBILITY, mistake);
  }
  const license = values["license"];
  if (license !== undefined && typeof license !== "string") mistake("license", "must be a text");
  checkMetadata(values["metadata"], mistake);
  const allowedTools = toolsIn(values["allowed-tools"], mistake);
  if (issues.length > 0) throw new SkillError(issues);
  return { name, description, allowedTools, frontMatter: values, text };
}

function atLine(line: number, message: string): Issue {
  return { path: SKILL_FILE, message: `line ${line}: ${message}` };
}

function decoded(bytes: Uint8Array<ArrayBuffer>): string {
  if (bytes.length > MAX_SKILL_TEXT_BYTES) {
    const message = `has ${bytes.length} bytes, and may have ${MAX_SKILL_TEXT_BYTES}: move parts of it to files in references/`;
    throw new SkillError([{ path: SKILL_FILE, message }]);
  }
  let text: string;
  try {
    // A byte order mark is left out.
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw new SkillError([{ path: SKILL_FILE, message: "is not text in UTF-8" }]);
  }
  if (text.includes("\0")) {
    throw new SkillError([{ path: SKILL_FILE, message: "has a NUL, so it is not text in UTF-8" }]);
  }
  return text.replaceAll("\r\n", "\n");
}

/** Splits the front matter from the instructions. */
function splitText(whole: string): { yaml: string; text: string } {
  const end = whole.indexOf("\n");
  const first = end === -1 ? whole : whole.slice(0, end);
  if (first.trimEnd() !== "---") {
    const rule = "must be ---: SKILL.md begins with front matter, which has name and description";
    throw new SkillError([atLine(1, rule)]);
  }
  for (let at = end === -1 ? whole.length : end + 1; at < whole.length;) {
    const next = whole.indexOf("\n", at);
    const line = whole.slice(at, next === -1 ? undefined : next);
    if (line.trimEnd() === "---") {
      const yaml = whole.slice(end + 1, at);
      if (yaml.length > MAX_FRONT_MATTER) {
        const message = `the front matter has more than ${MAX_FRONT_MATTER} characters`;
        throw new SkillError([atLine(1, message)]);
      }
      const text = next === -1 ? "" : whole.slice(next + 1).trim();
      return { yaml, text };
    }
    if (next === -1) break;
    at = next + 1;
  }
  throw new SkillError([
    atLine(1, "the front matter has no end: a line with --- and nothing else"),
  ]);
}

function parsed(yaml: string, lines: LineCounter): { document: Document; values: JsonObject } {
  const refused = (offset: number, message: string): SkillError =>
    new SkillError([atLine(lines.linePos(offset).line + FIRST_LINE - 1, message)]);
  const tooDeep = "the front matter is nested too deeply, or repeats itself by aliases";
  let document: Document;
  let values: unknown;
  if (isTooDeep(yaml)) throw new SkillError([atLine(1, tooDeep)]);
  try {
    document = parseDocument(yaml, { lineCounter: lines, prettyErrors: false, schema: "core" });
    const [error] = document.errors;
    if (error !== undefined) throw refused(error.pos[0], notYaml(error.message));
    values = document.toJS({ maxAliasCount: 20 });
  } catch (error) {
    if (error instanceof SkillError) throw error;
    // The parser is recursive, and its aliases are limited.
    throw new SkillError([atLine(1, tooDeep)]);
  }
  if (!isJsonObject(values)) {
    throw refused(0, "the front matter must have keys with values, such as name: my-skill");
  }
  return { document, values: JSON.parse(JSON.stringify(values)) as JsonObject };
}

function isTooDeep(yaml: string): boolean {
  let depth = 0;
  for (const character of yaml) {
    if (character === "[" || character === "{") depth++;
    else if (character === "]" || character === "}") depth = Math.max(0, depth - 1);
    if (depth > MAX_DEPTH) return true;
  }
  // Lists in lists on one line.
  return /(?:- ){33}/.test(yaml);
}

function notYaml(message: string): string {
  const text = message.trim().replaceAll(/\s+/g, " ");
  const colon = text.includes("Nested mappings")
    ? ". A text with a colon and a space in it stands in quotation marks"
    : "";
  return `is not YAML: ${text}${colon}`;
}

/** The line of a key in the file; that of the front matter's beginning if it is missing. */
function lineOf({ contents }: Document, lines: LineCounter, key: string): number {
  if (!isMap(contents)) return 1;
  for (const { key: node } of contents.items) {
    if (!isScalar(node) || node.value !== key || !node.range) continue;
    return lines.linePos(node.range[0]).line + FIRST_LINE - 1;
  }
  return 1;
}

function nameIn(values: JsonObject, folder: string | undefined, mistake: Mistake): string {
  const { name } = values;
  if (name === undefined || name === null) mistake("name", "is missing");
  else if (typeof name !== "string") mistake("name", "must be a text");
  else {
    const rule = nameMistake(name);
    if (rule !== undefined) mistake("name", rule);
    else if (folder !== undefined && name !== folder) {
      mistake(
        "name",
        `is "${name}", and the folder of the skill is "${folder}": both must be equal`,
      );
    }
    return name;
  }
  return "";
}

/** Why a text cannot be the name of a skill; undefined for one that can. */
export function nameMistake(name: string): string | undefined {
  if (name === "") return "is empty";
  if (name.length > MAX_NAME) return `has more than ${MAX_NAME} characters`;
  if (!/^[a-z0-9-]+$/.test(name)) {
    return "must have lower-case letters a to z, digits and hyphens only";
  }
  if (name.startsWith("-") || name.endsWith("-")) return "must not begin or end with a hyphen";
  return name.includes("--") ? "must not have two hyphens in a row" : undefined;
}

function textIn(values: JsonObject, key: string, most: number, mistake: Mistake): string {
  const value = values[key];
  if (value === undefined || value === null) mistake(key, "is missing");
  else if (typeof value !== "string") mistake(key, "must be a text");
  else if (value.trim() === "") mistake(key, "is empty");
  else if (Array.from(value).length > most) mistake(key, `has more than ${most} characters`);
  else return value.trim();
  return "";
}

function checkMetadata(metadata: Json | undefined, mistake: Mistake): void {
  if (metadata === undefined || metadata === null) return;
  if (!isJsonObject(metadata)) return mistake("metadata", "must have keys with texts");
  const wrong = Object.entries(metadata).find(([, value]) => typeof value === "object");
  if (wrong !== undefined)
    mistake("metadata", `must have texts as values, which "${wrong[0]}" has not`);
}

/** Names with a pattern in brackets count by the name alone. */
function toolsIn(value: Json | undefined, mistake: Mistake): string[] | null {
  if (value === undefined || value === null) return null;
  const list = Array.isArray(value) ? value : [value];
  const texts = list.filter((one) => typeof one === "string");
  if (texts.length < list.length) {
    mistake("allowed-tools", "must be a text with names of tools, separated by spaces");
    return null;
  }
  const names = new Set<string>();
  let name = "";
  let depth = 0;
  for (const character of `${texts.join(" ")} `) {
    if (character === "(") depth++;
    else if (character === ")") depth = Math.max(0, depth - 1);
    else if (depth > 0) continue;
    else if (/[\s,]/.test(character)) {
      if (name !== "") names.add(name);
      name = "";
    } else name += character;
  }
  if (names.size > MAX_TOOLS) mistake("allowed-tools", `names more than ${MAX_TOOLS} tools`);
  return [...names];
}
