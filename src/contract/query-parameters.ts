import * as z from "zod";
import { userSchema } from "./user.ts";

/** Limits of the deployment that query parameters depend on. */
export interface QueryLimits {
  max_page_size: number;
  max_wait_seconds: number;
}

/** A whole number in a query string. */
export function integerParameter(minimum: number, maximum: number): z.ZodType<number> {
  const rule = `must be a whole number from ${minimum} to ${maximum}`;
  return z
    .custom<string>((text) => typeof text === "string" && /^\d{1,16}$/.test(text), rule)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, rule)
    .meta({ type: "integer", minimum, maximum });
}

/** The number of items of a page; 50 are the default, or as many as the deployment allows. */
export function pageSizeParameter({ max_page_size }: QueryLimits): z.ZodType<number> {
  const size = Math.min(DEFAULT_PAGE_SIZE, max_page_size);
  return integerParameter(1, max_page_size)
    .optional()
    .transform((given = size) => given);
}

const DEFAULT_PAGE_SIZE = 50;

/** A position in a team's event log: the id of a stream frame, or a message's `seq`. */
export const cursorParameter = integerParameter(0, Number.MAX_SAFE_INTEGER);

/** The user for whom a credential speaks that may speak for others. */
export const loginUserParameter = userSchema
  .optional()
  .describe("Shows the addresses of logins that this user's runs wait for.");

/** The query of a stream. */
export const streamQuery = z.strictObject({
  after: cursorParameter.optional().describe("Recorded items after this cursor."),
  user: loginUserParameter,
});

/** The `next_cursor` of an earlier page, for lists whose cursors are not numbers. */
export const pageCursorParameter = z
  .string()
  .regex(/^[\w.~-]{1,256}$/, "must be the next_cursor of an earlier page")
  .optional();

/** The `next_cursor` of an earlier page, for lists over all teams. */
export const listCursorParameter = z
  .string()
  .max(500)
  .optional()
  .describe("A next_cursor of an earlier answer.");

/** A text that messages are searched for. */
export const searchParameter = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .describe("The text, in any case of its letters.");

/** A number of at least 0 in a query string. */
export const amountParameter = z
  .string()
  .regex(/^\d{1,16}(\.\d{1,16})?$/, "must be a number of at least 0")
  .transform(Number)
  .meta({ type: "number", minimum: 0 });

/** A day (UTC) or a time in a query string. */
export const momentParameter = z.union(
  [z.iso.date(), z.iso.datetime({ offset: true })],
  "must be a date like 2026-11-22 or a time like 2026-11-22T08:00:00Z",
);
