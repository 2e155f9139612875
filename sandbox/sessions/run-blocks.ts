import { shuttingDown } from "../problem.ts";
import type { BlockLimits, CodeBlock, Isolation } from "../runner.ts";
import { endingCode, endingNote, type Ending } from "./ended-by.ts";
import type { Execution } from "./execution.ts";
import type { Interpreter } from "./interpreter.ts";
import type { Workspace } from "./workspace.ts";

/** How much one request may use; the timeout is the request's. */
export interface ExecutionLimits extends Omit<BlockLimits, "timeoutMs"> {
  /** Kept of the output. */
  outputBytes: number;
  /** Printed in all. */
  maxOutputBytes: number;
}

interface Tools {
  interpreter: Interpreter;
  isolation: Isolation;
  limits: ExecutionLimits;
  /** Aborted when the service ends: what it then kills has no result. */
  closing: AbortSignal;
}

/** What running left behind. */
interface Ran {
  exitCode: number;
  workspace: Workspace;
}

/** Runs the blocks of a request in their order until one fails. @throws ProblemError 503 when the service ends meanwhile */
export async function runBlocks(
  execution: Execution,
  workspace: Workspace,
  tools: Tools,
): Promise<Ran> {
  let ran: Ran = { exitCode: 0, workspace };
  for (const block of execution.request.blocks) {
    if (tools.closing.aborted) throw shuttingDown();
    ran = execution.signal.aborted
      ? { ...ran, exitCode: end(execution, "cancelled", tools) }
      : await runBlock(execution, block, ran.workspace, tools);
    if (ran.exitCode !== 0) break;
  }
  return ran;
}

async function runBlock(
  execution: Execution,
  { language, code }: CodeBlock,
  workspace: Workspace,
  tools: Tools,
): Promise<Ran> {
  const { output, signal } = execution;
  const known = languageOf(tools.isolation, language);
  if (known === undefined) {
    const names = tools.isolation.languages.map(({ name }) => name).join(", ");
    output.note(`Unknown language ${JSON.stringify(language)}. There are: ${names}.`);
    return { exitCode: 1, workspace };
  }
  const flood = new AbortController();
  const outcome = await tools.interpreter.run({ language: known, code }, workspace, {
    limits: blockLimits(execution, tools),
    signal: AbortSignal.any([signal, flood.signal]),
    onOutput(bytes) {
      output.print(bytes);
      if (output.printed > tools.limits.maxOutputBytes) flood.abort();
    },
  });
  if (tools.closing.aborted) throw shuttingDown();
  output.endBlock();
  if (outcome.unkept.length > 0) output.note(unkeptNote(outcome.unkept));
  const { exitCode, endedBy } = outcome.result;
  if (endedBy === undefined) return { exitCode, workspace: outcome.workspace };
  const ending = endedBy === "cancelled" && !signal.aborted ? "output" : endedBy;
  return { exitCode: end(execution, ending, tools), workspace: outcome.workspace };
}

/** Says below the output why the code was ended. */
function end(execution: Execution, ending: Ending, tools: Tools): number {
  const { maxOutputBytes } = tools.limits;
  execution.output.note(endingNote(ending, { ...blockLimits(execution, tools), maxOutputBytes }));
  return endingCode(ending);
}

function blockLimits(execution: Execution, { limits }: Tools): BlockLimits {
  const { memoryBytes, workspaceBytes, workspaceFiles } = limits;
  return { timeoutMs: execution.request.timeoutMs, memoryBytes, workspaceBytes, workspaceFiles };
}

function languageOf({ languages }: Isolation, given: string): string | undefined {
  const wanted = given.trim().toLowerCase();
  return languages.find(({ name, aliases }) => name === wanted || aliases.includes(wanted))?.name;
}

function unkeptNote(paths: readonly string[]): string {
  const more = paths.length > 1 ? ` and ${paths.length - 1} more` : "";
  return `Not kept, for its name or its target: ${JSON.stringify(paths[0])}${more}.`;
}
