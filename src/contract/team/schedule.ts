import * as z from "zod";
import { idSchema, timeSchema } from "../common.ts";
import { startRunSchema } from "../run.ts";
import { receiversSchema, shownReceiversSchema } from "../notify.ts";

/** The run options of a schedule. The webhooks of the team and the tenant report scheduled runs too. */
const runSchema = startRunSchema.omit({ webhook: true, tools: true });

/** Metadata that the schedule sets in its runs. */
const OWN_METADATA = ["schedule_id", "scheduled_for"];

const cronSchema = z
  .string()
  .max(200, "must be at most 200 characters")
  .regex(
    /^\s*(@[a-z]+|\S+(\s+\S+){4})\s*$/i,
    'must have five fields, minute hour day month weekday, for example "0 8 * * 1-5", or be @hourly, @daily, @weekly, @monthly or @yearly',
  )
  .describe("Five fields: minute, hour, day of the month, month, day of the week.")
  .meta({ examples: ["0 8 * * 1-5"] });

const timezoneSchema = z
  .string()
  .max(100, "must be at most 100 characters")
  .refine(isTimeZone, 'must be an IANA time zone such as "Europe/Berlin"')
  .describe("The IANA time zone of cron.")
  .meta({ examples: ["Europe/Berlin"] });

const atSchema = z.iso
  .datetime({
    offset: true,
    error: "must be a time with its offset, for example 2026-12-24T08:00:00+01:00",
  })
  .describe("The time of the only occurrence.");

const enabledSchema = z.boolean().describe("A disabled schedule starts no runs by itself.");

const notify = receiversSchema.describe(
  "Receivers of messages about the runs of the schedule, beside those of the team.",
);

const createFields = runSchema.extend({
  notify: notify.optional(),
  id: idSchema.optional().describe("Left out, an unguessable one is made."),
  cron: cronSchema.optional(),
  timezone: timezoneSchema.optional().describe("The IANA time zone of cron. Left out, UTC."),
  at: atSchema.optional(),
  enabled: enabledSchema.default(true),
});

export const createScheduleSchema = createFields.superRefine((body, context) => {
  const issue = issuesOf(context);
  if (body.cron === undefined && body.at === undefined) {
    issue(["cron"], 'is missing: give "cron" for a repeated schedule, or "at" for a single time');
  }
  checkTimes(body, issue);
  checkMetadata(body, issue);
});

export const patchScheduleSchema = z
  .strictObject({
    ...withoutDefaults(runSchema.shape),
    notify: notify.optional().describe("Replaces all receivers."),
    cron: cronSchema.optional().describe("Replaces at."),
    timezone: timezoneSchema.optional(),
    at: atSchema.optional().describe("Replaces cron."),
    enabled: enabledSchema.optional(),
  })
  .superRefine((body, context) => {
    const issue = issuesOf(context);
    checkTimes(body, issue);
    checkMetadata(body, issue);
  });

export const scheduleSchema = runSchema.extend({
  notify: shownReceiversSchema,
  id: idSchema,
  team_id: idSchema,
  cron: z.string().nullable(),
  timezone: z.string().nullable().describe("Null with at."),
  at: timeSchema.nullable(),
  enabled: z.boolean(),
  next_at: timeSchema
    .nullable()
    .describe(
      "The next occurrence, in the past while limits keep its run from starting; null for none.",
    ),
  last_at: timeSchema.nullable().describe("The last occurrence that started a run."),
  last_run: z.string().nullable().describe("The run it started."),
  last_error: z
    .object({
      code: z.string().describe("The code of the problem, for example team_busy."),
      message: z.string(),
      scheduled_for: timeSchema,
    })
    .nullable()
    .describe("Why the latest occurrence started no run; null if it did."),
  created_at: timeSchema,
});

export type ScheduleInfo = z.output<typeof scheduleSchema>;

export const schedulePageSchema = z.object({
  schedules: z.array(scheduleSchema),
  next_cursor: z.string().nullable(),
});

export type SchedulePage = z.output<typeof schedulePageSchema>;

type Shape = typeof runSchema.shape;

/** The same fields, all optional; omitted fields stay unchanged. */
function withoutDefaults(shape: Shape): {
  [Name in keyof Shape]: z.ZodOptional<
    Shape[Name] extends z.ZodDefault<infer Inner> ? Inner : Shape[Name]
  >;
} {
  return Object.fromEntries(
    Object.entries(shape).map(([name, field]) => {
      const bare: z.ZodType = field instanceof z.ZodDefault ? field.unwrap() : field;
      const about = field.meta();
      return [name, about === undefined ? bare.optional() : bare.optional().meta(about)];
    }),
  ) as ReturnType<typeof withoutDefaults>;
}

type AddIssue = (path: string[], message: string) => void;

function issuesOf(context: z.core.$RefinementCtx): AddIssue {
  return (path, message) => context.addIssue({ code: "custom", path, message });
}

interface Times {
  cron?: string | undefined;
  timezone?: string | undefined;
  at?: string | undefined;
}

function checkTimes({ cron, timezone, at }: Times, issue: AddIssue): void {
  if (at === undefined) return;
  if (cron !== undefined) issue(["at"], 'give "cron" or "at", one of them');
  else if (timezone !== undefined) issue(["timezone"], 'belongs to "cron": "at" has its offset');
}

function checkMetadata({ metadata }: { metadata?: object | undefined }, issue: AddIssue): void {
  for (const name of OWN_METADATA) {
    if (metadata !== undefined && Object.hasOwn(metadata, name)) {
      issue(["metadata", name], "is set by the schedule in each of its runs");
    }
  }
}

function isTimeZone(name: string): boolean {
  try {
    Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
