import * as z from "zod";
import { ValueError } from "../../../core/errors.ts";
import { FunctionTool } from "../../../core/tools/function/function-tool.ts";

/** The date and the time, which models do not know. */
export const currentTime = new FunctionTool({
  name: "current_time",
  description: "The date, weekday and time now, in a time zone.",
  parameters: z.object({
    time_zone: z.string().max(100).default("UTC").describe("An IANA name such as Europe/Berlin."),
  }),
  execute: ({ time_zone }) => timeIn(time_zone, new Date()),
  policy: "retry",
});

/** For example `Monday, 2 March 2026 at 15:04:05 (Europe/Berlin)`. @throws ValueError for an unknown zone */
export function timeIn(timeZone: string, time: Date): string {
  try {
    const format = new Intl.DateTimeFormat("en-GB", {
      dateStyle: "full",
      timeStyle: "medium",
      timeZone,
    });
    return `${format.format(time)} (${timeZone})`;
  } catch {
    throw new ValueError(
      `"${timeZone}" is not a known time zone; use a name such as Europe/Berlin`,
    );
  }
}
