import { component } from "./components.ts";
import { check, conditionReset, setExternalTermination, wait } from "./conditions.ts";
import { contextAdd, contextClear, contextGet } from "./contexts.ts";
import { message, structured } from "./messages.ts";
import { catching, type FallibleOp } from "./op.ts";
import { loadState, reset, run, saveState } from "./runs.ts";
import { callTool, listTools } from "./workbenches.ts";

/** What each step does to a subject in memory, by its `op`. */
export const OPS: { readonly [op: string]: FallibleOp | undefined } = {
  run,
  check,
  save_state: catching(saveState),
  load_state: catching(loadState),
  reset: catching(reset),
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
