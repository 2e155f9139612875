import type { ApprovalFunction, ApprovalResponse, Catalog, Message, TurnContext } from "troupe";
import { type Json, type JsonObject } from "troupe";
import { isJsonObject } from "#core/json.ts";
import { asJson } from "../ops/op.ts";
import { eachObject } from "../trace.ts";

/** Hooks of the outermost team; they get its thread. */
const TEAM_HOOKS = ["selector_func", "candidate_func"];

/** The functions that are not part of component JSON: they return what was recorded, in order. */
export class Hooks {
  #calls: JsonObject[] = [];
  /** What each function returns next, by its name in traces. */
  #values = new Map<string, Json[]>();

  /** @param catalog gets the functions, under their names in traces */
  constructor(catalog: Catalog) {
    const approve: ApprovalFunction = ({ code, context }) =>
      this.#call("approval_func", {
        code,
        context: asJson(context),
      }) as unknown as ApprovalResponse;
    catalog.registerFunction("approval_func", approve);
    for (const hook of TEAM_HOOKS) {
      // In a step, because a turn that is run again must not take the next value.
      catalog.registerFunction(hook, (thread: readonly Message[], ctx: TurnContext) =>
        ctx.step("value", async () => this.#call(hook, { thread: thread.map(({ id }) => id) })),
      );
    }
  }

  /** What they were given since this was called last. */
  take(): JsonObject[] {
    const calls = this.#calls;
    this.#calls = [];
    return calls;
  }

  /** The component of a new subject, naming the functions that `hooks` has values for. */
  prepare(component: JsonObject, hooks: JsonObject): JsonObject {
    this.#values = new Map(
      Object.entries(hooks).map(([hook, values]) => [
        hook,
        Array.isArray(values) ? [...values] : [],
      ]),
    );
    const prepared = structuredClone(component);
    for (const hook of TEAM_HOOKS) {
      if (this.#values.has(hook)) (prepared["config"] as JsonObject)[hook] = hook;
    }
    eachObject(prepared, ({ provider, config }) => {
      if (!isJsonObject(config) || typeof provider !== "string") return;
      if (this.#values.has("approval_func") && /(?:^|\.)CodeExecutorAgent$/.test(provider)) {
        config["approval_func"] = "approval_func";
      }
    });
    return prepared;
  }

  #call(hook: string, given: JsonObject): Json {
    this.#calls.push({ hook, ...given });
    const value = this.#values.get(hook)?.shift();
    if (value === undefined) throw new Error(`the trace has no further value of ${hook}`);
    return value;
  }
}
