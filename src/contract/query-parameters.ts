import * as z from "zod";

/** A whole number in a query string. */
export function integerParameter(minimum: number, maximum: number): z.ZodType<number> {
  const rule = `must be a whole number from ${minimum} to ${maximum}`;
  return z
    .custom<string>((text) => typeof text === "string" && /^\d{1,16}$/.test(text), rule)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, rule)
    .meta({ type: "integer", minimum, maximum });
}

/** A position in a team's event log: the id of a stream frame, or a message's `seq`. */
export const cursorParameter = integerParameter(0, Number.MAX_SAFE_INTEGER);

/** The `next_cursor` of an earlier page, for lists whose cursors are not numbers. */
export const pageCursorParameter = z
  .string()
  .regex(/^[\w.~-]{1,256}$/, "must be the next_cursor of an earlier page")
  .optional();
