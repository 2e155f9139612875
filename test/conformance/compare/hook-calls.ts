import type { Json, JsonObject } from "troupe";
import { type CompareOptions, type Difference, difference } from "./compare.ts";

/** What the functions outside component JSON were given. */
export function compareHookCalls(
  expected: readonly JsonObject[],
  actual: readonly JsonObject[],
  options: CompareOptions,
): Difference | undefined {
  return difference(expected.map(withIds), actual.map(withIds), options, "hook_calls");
}

/** A thread is written as a list of ids; only what stands under `id` is compared as one. */
function withIds(call: JsonObject): Json {
  const thread = call["thread"];
  return Array.isArray(thread) ? { ...call, thread: thread.map((id) => ({ id })) } : call;
}
