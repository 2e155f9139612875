import * as z from "zod";
import { describedObject, timeSchema } from "../common.ts";
import type { JsonObject } from "../../core/json.ts";
import { MAX_SKILL_FILES } from "../../core/skills/skill-files.ts";

const encodedSchema = z.strictObject({
  base64: z.string().describe("The bytes of a file that is not text."),
});

/** The files of a skill in JSON: by path, or as a list. */
export const putSkillSchema = z.strictObject({
  files: z
    .union([
      z.record(z.string(), z.union([z.string(), encodedSchema])),
      z.array(
        z.union([
          z.strictObject({ path: z.string(), content: z.string() }),
          encodedSchema.extend({ path: z.string() }),
        ]),
      ),
    ])
    .describe(
      `The files of the folder, ${MAX_SKILL_FILES} at most: texts by path, or a list of { path, content } and { path, base64 }.`,
    ),
});

const name = z.string().describe("Lower-case letters, digits and hyphens.");
const description = z.string();
const version = z.number().int().min(1);
const size = z.number().int().min(0).describe("Bytes of all files.");
const hash = z.string().describe("The same for equal files.");

export const skillVersionSchema = z.object({
  version,
  hash,
  description,
  size,
  file_count: z.number().int().min(1),
  created_at: timeSchema,
});

/** A skill in a list, as its newest version has it. */
export const listedSkillSchema = skillVersionSchema.extend({ name });

/** One version of a skill. */
export const skillSchema = z.object({
  name,
  version,
  hash,
  description,
  text: z.string().describe("The instructions of SKILL.md, without its front matter."),
  allowed_tools: z
    .array(z.string())
    .nullable()
    .describe("The tools that it narrows an agent to; null if it does not."),
  front_matter: describedObject("All keys of the front matter.").describe(
    "All keys of the front matter.",
  ),
  size,
  files: z.array(z.object({ path: z.string(), size: z.number().int().min(0) })),
  created_at: timeSchema,
});

export const skillPageSchema = z.object({
  skills: z.array(listedSkillSchema),
  next_cursor: z.string().nullable(),
});

export const skillVersionPageSchema = z.object({
  versions: z.array(skillVersionSchema).describe("The newest first."),
  next_cursor: z.string().nullable(),
});

export type PutSkill = z.input<typeof putSkillSchema>;
export type SkillVersion = z.output<typeof skillVersionSchema>;
export type ListedSkill = z.output<typeof listedSkillSchema>;
export type SkillInfo = z.output<typeof skillSchema>;
export type SkillPage = z.output<typeof skillPageSchema>;
export type SkillVersionPage = z.output<typeof skillVersionPageSchema>;

/** A skill that was read and checked, with its files one after the other. */
export interface SkillContent {
  description: string;
  text: string;
  allowed_tools: string[] | null;
  front_matter: JsonObject;
  /** By path. */
  files: { path: string; size: number }[];
  hash: string;
  bytes: Uint8Array<ArrayBuffer>;
}
