import type { CodeBlock, Json, JsonObject } from "troupe";
import { type Issue, TroupeError } from "troupe";
import { errorMessage } from "#core/errors.ts";
import type { Step } from "./trace.ts";

/**
 * Where a trace is played: in this process, or in a Durable Object that is asked over HTTP. It holds the subject and the
 * scripted world outside. Ids in what it gets are those of the implementation.
 */
export interface Host {
  /**
   * Makes a component the subject, in the place of the one before.
   * @param hooks what functions return that are not part of the component, by name
   */
  use(component: JsonObject, hooks: JsonObject): Promise<Played>;
  /** Does what a step says; `new` and `use` are done by {@link use}. */
  play(step: Step): Promise<Played>;
  /** What the world outside was asked since this was called last. */
  takeRecords(): Promise<Records>;
}

/** What the world outside was asked, in order, each thing as traces write it down, without the number of its step. */
export interface Records {
  model_calls: JsonObject[];
  input_prompts: string[];
  code_calls: CodeBlock[][];
  hook_calls: JsonObject[];
}

/** What came of a step, under the keys of the step that say what should have. */
export interface Played {
  actual: { [key: string]: Json | undefined };
  /** What was thrown, if anything was. */
  error?: Thrown;
}

/** An error as it can be sent over HTTP, too. */
export interface Thrown {
  /** Null when it was not thrown on purpose. */
  code: string | null;
  message: string;
  issues: Issue[];
}

export function thrown(error: unknown): Thrown {
  const message = errorMessage(error);
  if (!(error instanceof TroupeError)) return { code: null, message, issues: [] };
  return { code: error.code, message, issues: error.issues };
}
