import * as z from "zod";
import { anything, checkOptions } from "../options/options.ts";
import { ValueError } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import { hash64 } from "../hash.ts";
import { readSkillText, type SkillText } from "./front-matter.ts";
import { checkFiles, SKILL_FILE, type SkillFile } from "./skill-files.ts";
import type { OpenSkill, SkillSource, SkillSummary } from "./skill-source.ts";
import { unzip } from "./unzip.ts";

/** The files of a skill by path: texts, or bytes. */
export type SkillFiles = { readonly [path: string]: string | Uint8Array };

/** The folder of a skill with its `SKILL.md`, or what a `SKILL.md` would say. */
export type SkillOptions =
  | { files: SkillFiles }
  | {
      /** Lower-case letters, digits and hyphens, at most 64. */
      name: string;
      /** The skill's purpose and when to use it, at most 1,024 characters. */
      description: string;
      /** The instructions. */
      text: string;
      /** Narrows the agent to these tools of its own, from the loading of the skill to the end of the turn. */
      allowedTools?: readonly string[];
      /** Further files. */
      files?: SkillFiles;
    };

/** The names of the options; their values are checked as parts of the folder that they describe. */
const optionsSchema = z.object({
  name: anything,
  description: anything,
  text: anything,
  allowedTools: anything,
  files: anything,
});

/**
 * A skill in code (agentskills.io): instructions, files and scripts that an agent loads when a task needs them.
 *
 * @throws SkillError with the lines and rules of a folder that is not valid
 * @example
 * const refunds = new Skill({
 *   name: "refunds",
 *   description: "Decides about refunds. Use it when a customer wants money back.",
 *   text: "Refund without a question up to 50 euros.",
 * });
 * const clerk = new AssistantAgent({ name: "clerk", modelClient, skills: [refunds] });
 */
export class Skill implements SkillSource {
  readonly name: string;
  readonly description: string;
  /** The names in `allowed-tools`; null without the key. */
  readonly allowedTools: readonly string[] | null;
  /** All keys of the front matter. */
  readonly frontMatter: JsonObject;
  /** The instructions. */
  readonly text: string;
  readonly #files: readonly SkillFile[];
  #pin: string | undefined;

  constructor(options: SkillOptions) {
    const { files, content } = parts(checkOptions(optionsSchema, options, "Skill") as SkillOptions);
    const { name, description, allowedTools, frontMatter, text } = content;
    this.name = name;
    this.description = description;
    this.allowedTools = allowedTools;
    this.frontMatter = frontMatter;
    this.text = text;
    this.#files = files;
  }

  /** Reads a zip archive of the folder. @throws SkillError */
  static async fromZip(archive: Uint8Array<ArrayBuffer>): Promise<Skill> {
    const files = await unzip(archive);
    return new Skill({ files: Object.fromEntries(files.map(({ path, bytes }) => [path, bytes])) });
  }

  find(names: readonly string[]): Promise<(SkillSummary | null)[]> {
    const { name, description, pin } = this;
    return Promise.resolve(names.map((one) => (one === name ? { name, description, pin } : null)));
  }

  open(): Promise<OpenSkill> {
    const { text, allowedTools: allowed_tools } = this;
    const files = this.#files.map(({ path, bytes }) => ({ path, size: bytes.length }));
    return Promise.resolve({ text, allowed_tools, files });
  }

  read(name: string, _pin: string, path: string): Promise<Uint8Array<ArrayBuffer>> {
    const file = this.#files.find((one) => one.path === path);
    if (file === undefined) return Promise.reject(noFile(name, path));
    return Promise.resolve(file.bytes);
  }

  files(): Promise<SkillFile[]> {
    return Promise.resolve([...this.#files]);
  }

  /** The content's key: the same for equal files. */
  get pin(): string {
    this.#pin ??= hash64(
      this.#files.map(({ path, bytes }) => `${path} ${bytes.length} ${latin1(bytes)}`).join("\n"),
    );
    return this.#pin;
  }
}

/** The error about a file that a skill does not have. */
export function noFile(skill: string, path: string): ValueError {
  return new ValueError(`the skill "${skill}" has no file "${path}"`);
}

function parts(options: SkillOptions): { files: SkillFile[]; content: SkillText } {
  const given = asFiles(options.files ?? {});
  if (!("text" in options)) {
    const files = checkFiles(given);
    const main = files.find(({ path }) => path === SKILL_FILE) as SkillFile;
    return { files, content: readSkillText(main.bytes, undefined) };
  }
  const { name, description, text, allowedTools } = options;
  const front = { name, description, ...(allowedTools && { "allowed-tools": [...allowedTools] }) };
  // JSON is YAML.
  const lines = Object.entries(front).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`);
  const main = `---\n${lines.join("")}---\n${text}\n`;
  const files = checkFiles([{ path: SKILL_FILE, bytes: encoded(main) }, ...given]);
  return { files, content: readSkillText(encoded(main), undefined) };
}

function asFiles(files: SkillFiles): SkillFile[] {
  return Object.entries(files).map(([path, content]) => ({
    path,
    bytes: typeof content === "string" ? encoded(content) : new Uint8Array(content),
  }));
}

function encoded(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new TextEncoder().encode(text));
}

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 4_096) {
    text += String.fromCharCode(...bytes.subarray(at, at + 4_096));
  }
  return text;
}
export { SkillError } from "./skill-files.ts";
