import * as z from "zod";
import { requestUsageSchema } from "../models/llm-messages.ts";

/** The fields of every chat message and event. `created_at` is ISO 8601, in UTC if Troupe creates it. */
export const baseMessageSchema = z.object({
  id: z.string(),
  source: z.string(),
  models_usage: requestUsageSchema.nullable().default(null),
  metadata: z.record(z.string(), z.string()).default({}),
  created_at: z.iso.datetime({
    offset: true,
    local: true,
    error: "must be an ISO 8601 date and time, or a number of seconds or milliseconds since 1970",
  }),
});
