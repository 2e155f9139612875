import type { Json } from "troupe";
import type { ModelCall, Trace } from "../trace.ts";
import { type CompareOptions, type Difference, difference } from "./compare.ts";
import { compareMultisets } from "./runs.ts";

/**
 * The requests to models of one step.
 *
 * @param count how many of them are compared
 */
export function compareModelCalls(
  trace: Trace,
  calls: readonly ModelCall[],
  step: number,
  options: CompareOptions,
  count: number,
): Difference | undefined {
  const first = (all: readonly ModelCall[]): ModelCall[] =>
    all.filter((call) => call.step === step).slice(0, count);
  const [expected, actual] = [first(trace.model_calls), first(calls)];
  if (trace.compare === "exact") return compareInOrder(expected, actual, options, "model_calls");
  const clients = new Set([...expected, ...actual].map(({ client }) => client));
  for (const client of clients) {
    const of = (list: readonly ModelCall[]): ModelCall[] =>
      list.filter((call) => call.client === client);
    const path = `model_calls of client ${client}`;
    const found = compareInOrder(of(expected), of(actual), options, path, true);
    if (found) return found;
  }
  return undefined;
}

function compareInOrder(
  expected: readonly ModelCall[],
  actual: readonly ModelCall[],
  options: CompareOptions,
  path: string,
  anyOrder = false,
): Difference | undefined {
  const length = Math.max(expected.length, actual.length);
  for (let index = 0; index < length; index++) {
    const [left, right] = [expected[index], actual[index]];
    const at = `${path}[${index}]`;
    const found =
      (anyOrder && left && right
        ? compareMultisets(messagesOf(left), messagesOf(right), options, `${at}.messages`)
        : undefined) ??
      difference(comparable(left, anyOrder), comparable(right, anyOrder), options, at);
    if (found) return found;
  }
  return undefined;
}

/** The words of a failed call are not compared, only that it failed. */
function comparable(call: ModelCall | undefined, withoutMessages: boolean): Json | undefined {
  if (call === undefined) return undefined;
  const { error, messages, ...rest } = call;
  return {
    ...rest,
    failed: error !== undefined,
    ...(!withoutMessages && { messages: messages ?? null }),
  };
}

function messagesOf(call: ModelCall): Json[] {
  return Array.isArray(call["messages"]) ? call["messages"] : [];
}
