import type { CodeResult } from "../code/code-block.ts";
import type { StepAttempt } from "../steps/step-attempt.ts";
import type { SkillFile } from "./skill-files.ts";

/** A script of a skill that is to run. */
export interface ScriptCall {
  skill: string;
  /** The path of the script in the folder. */
  path: string;
  args: readonly string[];
  /** All files of the skill. */
  files: readonly SkillFile[];
}

/** Runs scripts of skills, whose folder they can read and not change. */
export interface ScriptRunner {
  /** A call of the same idempotency key gets the recorded result. */
  run(call: ScriptCall, attempt: StepAttempt): Promise<CodeResult>;
}
