import * as z from "zod";

/** What every saved state begins with (AutoGen `BaseState`). Old states may lack both. */
export const baseStateSchema = z.object({
  type: z.string().optional(),
  version: z.string().optional(),
});

/** The beginning of a state of one type. A state of another type is refused: its fields would be taken for missing. */
export function stateSchemaOf(type: string) {
  return baseStateSchema.extend({ type: z.literal(type).optional() });
}
