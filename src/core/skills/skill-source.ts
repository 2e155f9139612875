import type { SkillFile } from "./skill-files.ts";

/** A skill as a model learns of it before it loads it. */
export interface SkillSummary {
  name: string;
  description: string;
  /** The content that a run keeps to: the same for equal files. */
  pin: string;
}

/** A skill that was loaded. */
export interface OpenSkill {
  /** The instructions of `SKILL.md`, without its front matter. */
  text: string;
  /** The tools that it narrows the agent to; null if it does not. */
  allowed_tools: readonly string[] | null;
  /** Its files, by path. Sizes are in bytes; null where they are not known. */
  files: readonly { path: string; size: number | null }[];
}

/** A skill that a run has found, and that it keeps to. */
export interface FoundSkill extends SkillSummary {
  /** Its origin: the code, the tenant, or the workbench of the agent with this number. */
  from: "code" | "tenant" | number;
}

/** Finds skills of one owner. Call it in a step, unless it makes steps of its own. */
export interface SkillSource {
  readonly makesSteps?: true;
  /** The skills with these names as they are now, null for unknown ones; one that makes steps gives all it has. */
  find(names: readonly string[]): Promise<(SkillSummary | null)[]>;
  /** @throws ValueError if there is no such content any more */
  open(name: string, pin: string): Promise<OpenSkill>;
  /** The bytes of a file. @throws ValueError if there is no such file or content */
  read(name: string, pin: string, path: string): Promise<Uint8Array<ArrayBuffer>>;
  /** All files. @throws ValueError if there is no such content any more */
  files(name: string, pin: string): Promise<SkillFile[]>;
}

/** A skill in code, such as a `Skill`. */
export type NamedSkill = SkillSource & { readonly name: string };

/** Finds the skills that were registered in code. */
export interface SkillCatalog {
  skill(name: string): NamedSkill | undefined;
}
