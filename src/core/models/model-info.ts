import * as z from "zod";

/** What a model can do (AutoGen `ModelInfo`). `family` is one of AutoGen's `ModelFamily` names or any other text. */
export const modelInfoSchema = z.object({
  vision: z.boolean(),
  function_calling: z.boolean(),
  json_output: z.boolean(),
  family: z.string(),
  structured_output: z.boolean().optional(),
  multiple_system_messages: z.boolean().nullable().optional(),
});
export type ModelInfo = z.infer<typeof modelInfoSchema>;
