import * as z from "zod";
import type { CodeResult } from "../../core/code/code-block.ts";
import { CALL_MODULE } from "../../core/code/javascript-call.ts";
import type { JavaScriptHost, JavaScriptOutcome } from "../../core/code/javascript-host.ts";
import { endOf } from "../../core/cut.ts";
import { hash64 } from "../../core/hash.ts";
import { runBlock } from "../../core/python/python-host.ts";
import type { StepAttempt } from "../../core/steps/step-attempt.ts";
import type { SandboxAddress } from "./client/sandbox-connection.ts";
import { SandboxCodeExecutor } from "./sandbox-code-executor.ts";

const CHECK_SECONDS = 10;
/** Characters of output in an error message. */
const MAX_OUTPUT_LENGTH = 2_000;
/** The most bytes of an answer as JSON. A sandbox cuts the output of code at 1,000,000 unless it is set otherwise. */
const MAX_ANSWER_BYTES = 900_000;

const answerSchema = z.object({ text: z.string().optional(), error: z.string().optional() });

/** Runs JavaScript in a sandbox whose isolation has it: `process` with Node. */
export function sandboxJavaScript(sandbox: SandboxAddress): JavaScriptHost {
  /** The answers of programs, which run one after the other in one session. */
  const request = async (
    seconds: number,
    programs: readonly ((mark: string) => string)[],
    attempt: StepAttempt,
  ): Promise<z.infer<typeof answerSchema>[]> => {
    const executor = new SandboxCodeExecutor({ ...sandbox, timeout: seconds });
    const answers: z.infer<typeof answerSchema>[] = [];
    try {
      for (const code of programs) answers.push(await answerOf(executor, code, attempt));
      return answers;
    } finally {
      // Deletes a session of its own, which it has where the step has none.
      await executor.close().catch(() => undefined);
    }
  };
  return {
    place: "in the sandbox of this server",
    async call({ source, args, run, seconds }, attempt): Promise<JavaScriptOutcome> {
      const given = literal(JSON.stringify([args, { run }]));
      const call = (load: string): string => `outcome(${load}, ...JSON.parse(${given}))`;
      const code = (mark: string): string => program(mark, source, call);
      const [answer] = await request(seconds, [code], attempt);
      const { text, error = "the function did not return" } = answer ?? {};
      return text === undefined ? { error } : { text };
    },
    async check(sources, attempt) {
      const call = (load: string): string => `check(${load})`;
      const programs = sources.map((source) => (mark: string) => program(mark, source, call));
      const answers = await request(CHECK_SECONDS, programs, attempt);
      return answers.map(({ error }) => error);
    },
  };
}

async function answerOf(
  executor: SandboxCodeExecutor,
  code: (mark: string) => string,
  attempt: StepAttempt,
): Promise<z.infer<typeof answerSchema>> {
  const key = attempt.idempotencyKey;
  const mark = `#troupe-${hash64(key)}-${hash64(key, 1)}:`;
  const block = { language: "javascript", code: code(mark) };
  const result = await runBlock(executor, block, attempt);
  const line = result.output.split("\n").findLast((text) => text.startsWith(mark));
  const answer = answerSchema.safeParse(parsed(line?.slice(mark.length)));
  return answer.success ? answer.data : { error: endOfRun(result, mark) };
}

/**
 * A block that prints an answer about a source as a line with a mark. What the source itself prints is left out, so that the answer
 * is not cut with it.
 *
 * @param answer an expression with a function that imports the source
 */
function program(mark: string, source: string, answer: (load: string) => string): string {
  const load = `() => import(moduleOf(${literal(source)}))`;
  return `(async () => {
const moduleOf = (text) => "data:text/javascript;charset=utf-8," + encodeURIComponent(text);
const { check, outcome } = await import(moduleOf(${literal(CALL_MODULE)}));
const write = process.stdout.write.bind(process.stdout);
const silent = (...given) => {
  const written = given.find((value) => typeof value === "function");
  if (written) process.nextTick(written);
  return true;
};
process.stdout.write = silent;
process.stderr.write = silent;
let answer = JSON.stringify(await ${answer(load)});
const bytes = Buffer.byteLength(answer);
if (bytes > ${MAX_ANSWER_BYTES}) answer = JSON.stringify({ error: "the result has " + bytes + " bytes as JSON; in a sandbox at most ${MAX_ANSWER_BYTES} are allowed" });
write("\\n" + ${literal(mark)} + answer + "\\n", () => process.exit(0));
})();
`;
}

/** A text as a literal of JavaScript, in whose JSON two line separators are allowed since ES2019. */
function literal(text: string): string {
  return JSON.stringify(text);
}

function parsed(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The error of a block that did not answer. */
function endOfRun({ exit_code, output }: CodeResult, mark: string): string {
  const text = endOf(output.trim(), MAX_OUTPUT_LENGTH);
  if (exit_code === 124) return "the function took longer than its time limit";
  if (text.startsWith("Unknown language")) {
    return "the sandbox has no JavaScript: start it with SANDBOX_ISOLATION=process, or give the Worker the binding LOADER";
  }
  if (output.includes(`\n${mark}`)) {
    return "the result is longer than the output that the sandbox keeps (SANDBOX_OUTPUT_BYTES)";
  }
  return `the function did not return (exit code ${exit_code})${text === "" ? "" : `: ${text}`}`;
}
