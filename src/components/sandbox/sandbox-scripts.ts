import type { CodeResult } from "../../core/code/code-block.ts";
import { ValueError } from "../../core/errors.ts";
import { sha256Hex } from "../../core/hash.ts";
import type { ScriptCall, ScriptRunner } from "../../core/skills/script-runner.ts";
import type { SkillFile } from "../../core/skills/skill-files.ts";
import type { StepAttempt } from "../../core/steps/step-attempt.ts";
import { SandboxClient } from "./client/sandbox-client.ts";
import type { SandboxAddress } from "./client/sandbox-connection.ts";
import { SandboxFolder } from "./sandbox-folder.ts";

const TIMEOUT_SECONDS = 60;

/** The programs that run scripts, by the end of their names. */
const PROGRAMS: Readonly<Record<string, string>> = {
  py: "python3",
  sh: "bash",
  bash: "bash",
  js: "node",
  mjs: "node",
  cjs: "node",
};

/** Runs scripts of skills in a sandbox, where the folder of a skill is one that code can read and not change. */
export class SandboxScripts implements ScriptRunner {
  readonly #client: SandboxClient;
  readonly #address: SandboxAddress;
  /** The session of this runner, if steps name none. */
  #own: string | undefined;

  /** @throws ValueError for an invalid `url` */
  constructor(address: SandboxAddress) {
    this.#client = new SandboxClient(address);
    this.#address = address;
  }

  async run(
    { skill, path, args, files }: ScriptCall,
    { idempotencyKey, session: team, signal, trace }: StepAttempt,
  ): Promise<CodeResult> {
    const code = commandOf(skill, path, args, files);
    const session = team ?? (this.#own ??= crypto.randomUUID());
    const folder = await SandboxFolder.of(skill, files);
    const key = (await sha256Hex(`${idempotencyKey}\n${folder.session}\n${code}`)).slice(0, 32);
    const output = folder.execute(this.#client, this.#address, session, {
      blocks: [{ language: "sh", code }],
      timeoutSeconds: TIMEOUT_SECONDS,
      key,
      signal,
      trace,
    });
    try {
      for (;;) {
        const next = await output.next();
        if (!next.done) continue;
        const { exit_code, output: text, truncated } = next.value;
        return { exit_code, output: truncated ? `${text}\n[There was more output.]` : text };
      }
    } catch (error) {
      if (signal.aborted) await this.#client.cancel(session, key).catch(() => undefined);
      throw error;
    }
  }
}

/** @throws ValueError for a file that is not there, or not a script */
function commandOf(
  skill: string,
  path: string,
  args: readonly string[],
  files: readonly SkillFile[],
): string {
  const names = files.map((file) => file.path);
  if (args.some((arg) => arg.includes("\0"))) throw new ValueError("an argument has a NUL");
  const found = [path, `scripts/${path}`].find((one) => names.includes(one));
  if (found === undefined) {
    const scripts = names.filter((name) => programOf(name) !== undefined);
    throw new ValueError(
      `the skill "${skill}" has no script "${path}"; it has ${scripts.join(", ") || "none"}`,
    );
  }
  const program = programOf(found);
  if (program === undefined) {
    throw new ValueError(
      `"${found}" is not a script: names of scripts end in ${Object.keys(PROGRAMS).join(", ")}`,
    );
  }
  const script = `"$SANDBOX_FOLDERS"/${quoted(`${skill}/${found}`)}`;
  return [program, script, ...args.map(quoted)].join(" ");
}

function programOf(path: string): string | undefined {
  return PROGRAMS[/\.([a-z]+)$/.exec(path)?.[1] ?? ""];
}

/** A word for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
