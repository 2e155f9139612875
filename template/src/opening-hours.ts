import { FunctionTool } from "troupe";
import * as z from "zod";

const HOURS: Record<string, string> = {
  museum: "10:00 to 18:00, closed on Mondays",
  library: "9:00 to 20:00",
  swimming_pool: "7:00 to 21:00",
};

/** A tool: the model reads its description and the schema of its arguments, and your function does the work. */
export const openingHours = new FunctionTool({
  name: "opening_hours",
  description: "When a place in town is open.",
  parameters: z.object({ place: z.enum(["museum", "library", "swimming_pool"]) }),
  execute: ({ place }) => HOURS[place] ?? "unknown",
  // It only reads, so it may run again after a crash.
  policy: "retry",
});
