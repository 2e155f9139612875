import * as z from "zod";
import type { StepPolicy } from "troupe";
import { FunctionTool } from "troupe";
import { effect } from "./effects.ts";
import { ASK_TOOL, NEVER_TOOL, RETRY_TOOLS } from "./names.ts";

/** Tools whose effects the harness counts. */
export const EFFECT_TOOLS = [
  effectTool(NEVER_TOOL, "never"),
  effectTool(ASK_TOOL, "ask"),
  ...RETRY_TOOLS.map((name) => effectTool(name, "retry")),
];

function effectTool(name: string, policy: StepPolicy) {
  return new FunctionTool({
    name,
    description: `Has the effect ${name}.`,
    parameters: z.object({ what: z.string() }),
    execute: ({ what }, { idempotencyKey }) => effect(what, idempotencyKey),
    policy,
  });
}
