import type { JsonObject } from "../json.ts";
import type { StepAttempt } from "../steps/step-attempt.ts";
import type { RunContext } from "../turn/run-context.ts";
import type { CodeExecutor } from "./code-executor.ts";

/** A call of the function that a module exports as its default. */
export interface JavaScriptCall {
  /** The source code of the module. */
  source: string;
  args: JsonObject;
  /** The run of the call, which the function gets. Its tenant decides which calls may share an isolate. */
  run: RunContext;
  /** The time limit. */
  seconds: number;
}

/** The result of a call as text for the model, or the error that the model reads. */
export type JavaScriptOutcome = { text: string } | { error: string };

/** Runs the JavaScript in component JSON. */
export interface JavaScriptHost {
  /** The place in which the code runs, for notes: `in a dynamic Worker of this server`. */
  readonly place: string;
  /**
   * Calls the function.
   *
   * @throws when it could not be called; an error of the function is an outcome
   */
  call(call: JavaScriptCall, attempt: StepAttempt): Promise<JavaScriptOutcome>;
  /**
   * Loads modules without calling their functions.
   *
   * @returns the mistake in each; undefined for one that can be called
   * @throws when one could not be loaded for another reason
   */
  check(sources: readonly string[], attempt: StepAttempt): Promise<(string | undefined)[]>;
  /** Runs blocks of JavaScript, where the host takes them from the sandbox. @param seconds the time limit of a block */
  blocks?(seconds: number): CodeExecutor["executeCodeBlocks"];
}

/** True for the languages of blocks that are JavaScript. */
export function isJavaScript(language: string): boolean {
  return /^(?:js|javascript|node)$/i.test(language);
}
