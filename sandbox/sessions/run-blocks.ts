import { beginningOf } from "../../src/core/cut.ts";
import { shuttingDown } from "../problem.ts";
import type { BlockLimits, CodeBlock, Isolation } from "../runner.ts";
import type { Execution } from "./execution.ts";
import type { Interpreter, OpenFolder } from "./interpreter.ts";
import type { Place } from "./scheduler.ts";
import { type Termination, terminationCode, terminationNote } from "./termination.ts";
import type { Workspace } from "./workspace.ts";

/** How much one request may use; the timeout is the request's. */
export interface ExecutionLimits extends Omit<BlockLimits, "timeoutMs"> {
  /** Output that is kept. */
  outputBytes: number;
  /** Output that stops the code. */
  maxOutputBytes: number;
}

interface Tools {
  interpreter: Interpreter;
  isolation: Isolation;
  limits: ExecutionLimits;
  /** Aborted when the service shuts down: executions that it kills have no result. */
  closing: AbortSignal;
  /** The place of the execution, unless it was cancelled before it had one. */
  place: Place | undefined;
  /** The folders that the code can read and not change. */
  folders: readonly OpenFolder[];
}

/** The state after a block. */
interface Ran {
  exitCode: number;
  workspace: Workspace;
}

/**
 * Runs the blocks of a request in order until one fails.
 *
 * @throws ProblemError 503 when the service shuts down meanwhile
 */
export async function runBlocks(
  execution: Execution,
  workspace: Workspace,
  tools: Tools,
): Promise<Ran | "interrupted"> {
  let ran: Ran = { exitCode: 0, workspace };
  for (const block of execution.request.blocks) {
    if (tools.closing.aborted) throw shuttingDown();
    if (execution.signal.aborted)
      return { ...ran, exitCode: terminate(execution, "cancelled", tools) };
    if (tools.place?.interrupted.aborted === true) return "interrupted";
    const next = await runBlock(execution, block, ran.workspace, tools);
    if (next === "interrupted") return next;
    ran = next;
    if (ran.exitCode !== 0) break;
  }
  return ran;
}

async function runBlock(
  execution: Execution,
  { language, code }: CodeBlock,
  workspace: Workspace,
  tools: Tools,
): Promise<Ran | "interrupted"> {
  const { output, signal } = execution;
  const known = languageOf(tools.isolation, language);
  if (known === undefined) {
    const names = tools.isolation.languages.map(({ name }) => name).join(", ");
    output.note(`Unknown language ${JSON.stringify(language)}. There are: ${names}.`);
    return { exitCode: 1, workspace };
  }
  const flood = new AbortController();
  const outcome = await tools.interpreter.run({ language: known, code }, workspace, {
    env: execution.request.env,
    folders: tools.folders,
    limits: blockLimits(execution, tools),
    signal: AbortSignal.any([
      signal,
      flood.signal,
      ...(tools.place === undefined ? [] : [tools.place.interrupted]),
    ]),
    onBegin: () => tools.place?.begin(),
    onOutput(bytes) {
      output.print(bytes);
      if (output.printed > tools.limits.maxOutputBytes) flood.abort();
    },
  });
  if (tools.closing.aborted) throw shuttingDown();
  const { exitCode, endedBy } = outcome.result;
  const stopped = endedBy === "cancelled" && !signal.aborted && !flood.signal.aborted;
  if (stopped) return "interrupted";
  output.endBlock();
  if (outcome.unkept.length > 0) output.note(unkeptNote(outcome.unkept));
  if (endedBy === undefined) return { exitCode, workspace: outcome.workspace };
  const reason = endedBy === "cancelled" && !signal.aborted ? "output" : endedBy;
  return { exitCode: terminate(execution, reason, tools), workspace: outcome.workspace };
}

/** Adds a line to the output that says why the code was stopped. @returns the exit code */
function terminate(execution: Execution, reason: Termination, tools: Tools): number {
  const { maxOutputBytes } = tools.limits;
  const limits = { ...blockLimits(execution, tools), maxOutputBytes };
  execution.output.note(terminationNote(reason, limits));
  return terminationCode(reason);
}

function blockLimits(execution: Execution, { limits }: Tools): BlockLimits {
  const { memoryBytes, workspaceBytes, workspaceFiles, temporaryBytes } = limits;
  const { timeoutMs } = execution.request;
  return { timeoutMs, memoryBytes, workspaceBytes, workspaceFiles, temporaryBytes };
}

function languageOf({ languages }: Isolation, given: string): string | undefined {
  const wanted = given.trim().toLowerCase();
  return languages.find(({ name, aliases }) => name === wanted || aliases.includes(wanted))?.name;
}

/** In characters. */
const MAX_NOTED_PATH = 100;

function unkeptNote([first = "", ...others]: readonly string[]): string {
  const path = first.length > MAX_NOTED_PATH ? `${beginningOf(first, MAX_NOTED_PATH)}...` : first;
  const more = others.length > 0 ? ` and ${others.length} more` : "";
  return `Not kept, because of its name or its target: ${JSON.stringify(path)}${more}.`;
}
