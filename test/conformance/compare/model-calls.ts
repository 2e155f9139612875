import type { Json } from "../../../src/core/json.ts";
import type { ModelCall, Trace } from "../trace.ts";
import { type CompareOptions, type Difference, difference } from "./compare.ts";
import { compareMultisets } from "./runs.ts";

/** A difference between model calls belongs to the step in which the expected call was made. */
export type CallDifference = Difference & { step: number };

type OptionsOfStep = (step: number) => CompareOptions;

/** All requests to models over a trace, without those of `skipped` steps. */
export function compareModelCalls(
  trace: Trace,
  calls: readonly ModelCall[],
  skipped: ReadonlySet<number>,
  options: OptionsOfStep,
): CallDifference | undefined {
  const expected = trace.model_calls.filter(({ step }) => !skipped.has(step));
  const actual = calls.filter(({ step }) => !skipped.has(step));
  if (trace.compare === "exact") return compareInOrder(expected, actual, options, "model_calls");
  const clients = new Set([...expected, ...actual].map(({ client }) => client));
  for (const client of clients) {
    const of = (list: readonly ModelCall[]): ModelCall[] =>
      list.filter((call) => call.client === client);
    const found = compareInOrder(
      of(expected),
      of(actual),
      options,
      `model_calls of client ${client}`,
      true,
    );
    if (found) return found;
  }
  return undefined;
}

function compareInOrder(
  expected: readonly ModelCall[],
  actual: readonly ModelCall[],
  optionsOf: OptionsOfStep,
  path: string,
  anyOrder = false,
): CallDifference | undefined {
  const length = Math.max(expected.length, actual.length);
  for (let index = 0; index < length; index++) {
    const [left, right] = [expected[index], actual[index]];
    const at = `${path}[${index}]`;
    const step = left?.step ?? right?.step ?? 0;
    const options = optionsOf(step);
    const found =
      (anyOrder && left && right
        ? compareMultisets(messagesOf(left), messagesOf(right), options, `${at}.messages`)
        : undefined) ??
      difference(comparable(left, anyOrder), comparable(right, anyOrder), options, at);
    if (found) return { ...found, step };
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
