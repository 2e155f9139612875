import * as z from "zod";
import type { CamelKeys } from "../options/option-names.ts";

/** The capabilities of a model, in component JSON. */
export const modelInfoSchema = z.object({
  vision: z.boolean(),
  function_calling: z.boolean(),
  json_output: z.boolean(),
  family: z.string(),
  structured_output: z.boolean().optional(),
  multiple_system_messages: z.boolean().nullable().optional(),
  /** True if it gets files directly, PDF above all; otherwise it gets their text. AutoGen ignores it. */
  pdf: z.boolean().optional(),
});

/**
 * The capabilities of a model (AutoGen `ModelInfo`). `family` is one of AutoGen's `ModelFamily` names or any other
 * text.
 */
export type ModelInfo = CamelKeys<z.infer<typeof modelInfoSchema>>;
