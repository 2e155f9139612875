import * as z from "zod";
import { requestUsageSchema } from "../models/llm-messages.ts";

/** What every chat message and event carries. `created_at` is ISO 8601, UTC where we make it. */
export const baseMessageSchema = z.object({
  id: z.string(),
  source: z.string(),
  models_usage: requestUsageSchema.nullable().default(null),
  metadata: z.record(z.string(), z.string()).default({}),
  created_at: z.iso.datetime({
    offset: true,
    local: true,
    error: "must be an ISO 8601 date and time",
  }),
});
