import * as z from "zod";
import { FunctionTool } from "../../../src/core/tools/function-tool.ts";
import { effect } from "./effects.ts";
import { NEVER_TOOL, RETRY_TOOLS } from "./names.ts";

/** Tools whose effects the harness counts. */
export const EFFECT_TOOLS = [NEVER_TOOL, ...RETRY_TOOLS].map(
  (name) =>
    new FunctionTool({
      name,
      description: `Has the effect ${name}.`,
      parameters: z.object({ what: z.string() }),
      execute: ({ what }, { idempotencyKey }) => effect(what, idempotencyKey),
      policy: name === NEVER_TOOL ? "never" : "retry",
    }),
);
