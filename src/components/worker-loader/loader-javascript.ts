import * as z from "zod";
import { CALL_MODULE, MAX_RESULT_LENGTH } from "../../core/code/javascript-call.ts";
import type {
  JavaScriptCall,
  JavaScriptHost,
  JavaScriptOutcome,
} from "../../core/code/javascript-host.ts";
import { errorMessage } from "../../core/errors.ts";
import { sha256Hex } from "../../core/hash.ts";
import type { Json } from "../../core/json.ts";
import type { StepAttempt } from "../../core/steps/step-attempt.ts";
import { executeBlocks } from "./block-executor.ts";
import { BodyTooLongError, piecesOf } from "./bounded-body.ts";
import { isolatedWorker, type WorkerLoaderBinding } from "./worker-loader.ts";

/** The entry of a Worker that calls a function. What it prints would be in the log of this server, so it is left out. */
const ENTRY = String.raw`
import { check, outcome } from "./call.js";

delete globalThis.caches;
for (const name of Object.keys(console)) console[name] = () => {};
const load = () => import("./source_code.js");

export default {
  async fetch(request) {
    const { args, context } = await request.json();
    return Response.json(await (args === undefined ? check(load) : outcome(load, args, context)));
  },
};
`;

/** A result as JSON, in which a character takes at most six bytes. */
const MAX_BYTES = MAX_RESULT_LENGTH * 6 + 1_000;

/** Seconds for loading a module. */
const CHECK_SECONDS = 10;

const outcomeSchema = z.union([z.object({ text: z.string() }), z.object({ error: z.string() })]);
const mistakeSchema = z.object({ error: z.string().optional() });

/**
 * Runs JavaScript in dynamic Workers, which have no bindings and no network. Calls of one source share a Worker within a tenant, so what
 * a function keeps in a global is seen by no other tenant.
 */
export function loaderJavaScript(loader: WorkerLoaderBinding): JavaScriptHost {
  return {
    place: "in a dynamic Worker of this server, without network and without files",
    async call({ source, args, run, seconds }: JavaScriptCall, { signal }: StepAttempt) {
      const code = isolatedWorker(callModules(source), seconds);
      // A Worker is kept under its name, also while this server is replaced by a version that would make another one.
      const name = await sha256Hex(JSON.stringify([run.tenant, code]));
      const worker = loader.get(name, () => code);
      return ask(worker, { args, context: { run } }, outcomeSchema, seconds, signal);
    },
    async check(sources, { signal }) {
      const mistakes: (string | undefined)[] = [];
      // One after the other, because a request may have few dynamic Workers at a time.
      for (const source of sources) {
        const worker = loader.load(isolatedWorker(callModules(source), CHECK_SECONDS));
        const { error } = await ask(worker, {}, mistakeSchema, CHECK_SECONDS, signal);
        mistakes.push(error);
      }
      return mistakes;
    },
    blocks: (seconds) => (blocks, attempt) => executeBlocks(loader, blocks, seconds, attempt),
  };
}

/** Sends a request to a Worker and reads what it answers; what ends the Worker is an error in its code. @throws the signal's reason */
async function ask<T>(
  worker: ReturnType<WorkerLoaderBinding["load"]>,
  request: { [key: string]: Json | object },
  schema: z.ZodType<T>,
  seconds: number,
  signal: AbortSignal,
): Promise<T | Extract<JavaScriptOutcome, { error: string }>> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), seconds * 1000);
  const either = AbortSignal.any([signal, late.signal]);
  try {
    const response = await worker.getEntrypoint().fetch("http://call/", {
      method: "POST",
      body: JSON.stringify(request),
      signal: either,
    });
    let text = "";
    for await (const piece of piecesOf(response, MAX_BYTES, either)) text += piece;
    return schema.parse(JSON.parse(text));
  } catch (error) {
    signal.throwIfAborted();
    if (late.signal.aborted) return { error: `the function took longer than ${seconds} seconds` };
    if (error instanceof BodyTooLongError) return { error: "the result is too long" };
    return { error: `the code was stopped: ${errorMessage(error)}` };
  } finally {
    clearTimeout(timer);
  }
}

/** The modules of a Worker that calls the default export of a source. */
function callModules(source: string): Record<string, string> {
  return { "main.js": ENTRY, "call.js": CALL_MODULE, "source_code.js": source };
}
