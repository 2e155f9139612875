import { env } from "cloudflare:workers";
import { executeBlocks } from "#components/worker-loader/block-executor.ts";
import { loaderJavaScript } from "#components/worker-loader/loader-javascript.ts";
import type { WorkerLoaderBinding } from "#components/worker-loader/worker-loader.ts";
import type { CodeResult } from "#core/code/code-block.ts";
import type { JavaScriptOutcome } from "#core/code/javascript-host.ts";
import type { JsonObject } from "#core/json.ts";
import { runContext } from "#core/turn/run-context.ts";

export const loader: WorkerLoaderBinding = env.LOADER;

export function attempt(signal: AbortSignal = new AbortController().signal) {
  return { attempt: 1, idempotencyKey: crypto.randomUUID(), signal };
}

export interface Called {
  args?: JsonObject;
  tenant?: string;
  seconds?: number;
  signal?: AbortSignal;
}

/** Calls the default export of a source as a tool does. */
export function call(
  source: string,
  { args = {}, tenant = "acme", seconds = 30, signal }: Called = {},
): Promise<JavaScriptOutcome> {
  const context = runContext({ id: "r1", team: "t1", tenant, user: "ada" });
  const given = { source, args, run: context, seconds };
  return loaderJavaScript(loader).call(given, attempt(signal));
}

/** The outcome of the body of a function. */
export function body(text: string, called?: Called): Promise<JavaScriptOutcome> {
  return call(`export default async function (args, context) {\n${text}\n}`, called);
}

export interface Ran extends CodeResult {
  /** The output as it arrived. */
  pieces: string[];
}

/** Runs blocks of JavaScript. */
export async function run(
  code: string | string[],
  seconds = 30,
  signal?: AbortSignal,
): Promise<Ran> {
  const blocks = [code].flat().map((text) => ({ language: "javascript", code: text }));
  const running = executeBlocks(loader, blocks, seconds, attempt(signal));
  const pieces: string[] = [];
  for (;;) {
    const { done, value } = await running.next();
    if (done) return { ...value, pieces };
    pieces.push(value);
  }
}
