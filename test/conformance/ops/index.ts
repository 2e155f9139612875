import { component } from "./components.ts";
import { check, conditionReset, setExternalTermination, wait } from "./conditions.ts";
import { contextAdd, contextClear, contextGet } from "./contexts.ts";
import { message, structured } from "./messages.ts";
import type { FallibleOp, Op } from "./op.ts";
import { fresh, loadState, reset, run, saveState, use } from "./runs.ts";
import { callTool, listTools } from "./workbenches.ts";

/** What each step does, by its `op`. */
export const OPS: { readonly [op: string]: FallibleOp | undefined } = {
  run,
  check,
  save_state: catching(saveState),
  load_state: catching(loadState),
  reset: catching(reset),
  new: catching(fresh),
  use: catching(use),
  set_external_termination: catching(setExternalTermination),
  condition_reset: catching(conditionReset),
  wait: catching(wait),
  context_add: catching(contextAdd),
  context_get: catching(contextGet),
  context_clear: catching(contextClear),
  message: catching(message),
  structured: catching(structured),
  component: catching(component),
  list_tools: catching(listTools),
  call_tool: catching(callTool),
};

function catching(op: Op): FallibleOp {
  return async (step, world) => {
    try {
      return { actual: await op(step, world) };
    } catch (error) {
      return { actual: {}, error };
    }
  };
}
