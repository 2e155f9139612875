import * as z from "zod";

/** What every saved state begins with (AutoGen `BaseState`). Old states may lack both. */
export const baseStateSchema = z.object({
  type: z.string().optional(),
  version: z.string().optional(),
});
