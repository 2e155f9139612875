import { type Json, type JsonObject } from "troupe";
import { isJsonObject } from "#core/json.ts";
import type { Played, Thrown } from "../host.ts";
import { expectedDump } from "../ops/components.ts";
import { FIELDS } from "../ops/fields.ts";
import { type Step, textOf, type Trace } from "../trace.ts";
import { type CompareOptions, differ, type Difference, difference } from "./compare.ts";
import { compareBySource, compareEvents } from "./runs.ts";

/** Where a step went otherwise than recorded. */
export function compareStep(
  trace: Trace,
  step: Step,
  played: Played,
  options: CompareOptions,
): Difference | undefined {
  const wrong = compareErrors(step, played.error);
  if (wrong && !options.excuses?.(wrong.path)) return wrong;
  const wanted = FIELDS[step.op]?.shows.filter((key) => key in step) ?? [];
  for (const key of new Set([...wanted, ...Object.keys(played.actual)])) {
    const found = compareKey(trace, step, key, played.actual[key], options);
    if (found) return found;
  }
  return undefined;
}

function compareKey(
  trace: Trace,
  step: Step,
  key: string,
  actual: Json | undefined,
  options: CompareOptions,
): Difference | undefined {
  const expected = step[key];
  switch (key) {
    case "events": {
      const compare = trace.compare === "exact" ? compareEvents : compareBySource;
      return compare(items(expected), items(actual), options);
    }
    case "state":
      return compareStates(trace, step, actual, options);
    case "dump":
      return step.op === "component"
        ? difference(expectedDump(step), actual, options, key)
        : difference(expected, actual, options, key);
    default:
      return difference(expected, actual, options, key);
  }
}

/** What AutoGen does not save stands under this key. */
const STATE_EXTRAS: ReadonlySet<string> = new Set(["troupe"]);

function compareStates(
  trace: Trace,
  step: Step,
  actual: Json | undefined,
  options: CompareOptions,
): Difference | undefined {
  const only = step["compare_only"];
  if (Array.isArray(only)) return compareManagers(step["state"], actual, only, options);
  if (trace.compare === "by_source") return undefined;
  return difference(step["state"], actual, { ...options, ignore: STATE_EXTRAS }, "state");
}

function compareManagers(
  expected: Json | undefined,
  actual: Json | undefined,
  keys: readonly Json[],
  options: CompareOptions,
): Difference | undefined {
  const [left, right] = [managerState(expected), managerState(actual)];
  for (const key of keys.map(textOf)) {
    const found = difference(left?.[key], right?.[key], options, `state of the manager.${key}`);
    if (found) return found;
  }
  return undefined;
}

function managerState(state: Json | undefined): JsonObject | undefined {
  const agents = isJsonObject(state) ? state["agent_states"] : undefined;
  if (!isJsonObject(agents)) return undefined;
  return Object.values(agents)
    .filter(isJsonObject)
    .find((agent) => "message_thread" in agent);
}

function compareErrors(step: Step, actual: Thrown | undefined): Difference | undefined {
  const expected = step["error"];
  if (actual === undefined) {
    return expected === undefined ? undefined : differ("error", expected, undefined);
  }
  if (expected === undefined) return { path: "error", expected: "none", actual: actual.message };
  return step.op === "component" && isJsonObject(expected)
    ? compareComponentErrors(expected, actual)
    : undefined;
}

function compareComponentErrors(expected: JsonObject, actual: Thrown): Difference | undefined {
  const given = /^component_(\w+)$/.exec(actual.code ?? "")?.[1];
  if (given === undefined) {
    return { path: "error", expected: textOf(expected["kind"]), actual: actual.message };
  }
  const kind = difference(expected["kind"], given, {}, "error.kind");
  if (kind || expected["kind"] !== "validation") return kind;
  const fields = [...new Set(actual.issues.map(({ path }) => topLevelField(path)))].toSorted();
  return difference(items(expected["fields"]).map(textOf).toSorted(), fields, {}, "error.fields");
}

/** The field of the innermost config (or of the component itself) in which a mistake was found. */
export function topLevelField(path: string): string {
  const inside = path.split(/(?:^|\.)config\./).at(-1) ?? "";
  return (inside.replace(/^component\.?/, "") || inside).split(/[.[]/)[0] ?? "";
}

function items(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}
