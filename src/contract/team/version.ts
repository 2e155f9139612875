import * as z from "zod";
import { timeSchema } from "../common.ts";
import { teamSchema } from "../team.ts";

/** A version of a team's component, without the component. */
export const teamVersionSchema = z.object({
  component_version: z.number().int().min(1),
  created_at: timeSchema,
  by: z
    .string()
    .nullable()
    .describe(
      "The name of the key, or the subject or user of the token, that made it, else the kind of the credential; null if that was not recorded.",
    ),
  label: z.string().nullable().describe("A name that no other version of the team has."),
  note: z.string().nullable(),
  current: z.boolean().describe("Whether the team has this component now."),
});

export type TeamVersion = z.output<typeof teamVersionSchema>;

export const teamVersionPageSchema = z.object({
  versions: z.array(teamVersionSchema),
  next_cursor: z.string().nullable().describe("Pass as cursor; null at the end."),
});

export type TeamVersionPage = z.output<typeof teamVersionPageSchema>;

export const versionWithComponentSchema = teamVersionSchema.extend({
  component: teamSchema.shape.component,
});

export type VersionWithComponent = z.output<typeof versionWithComponentSchema>;

export const changeVersionSchema = z.strictObject({
  label: z
    .string()
    .trim()
    .min(1, "must have 1 to 100 characters; null removes the label")
    .max(100, "must have 1 to 100 characters; null removes the label")
    .nullable()
    .optional()
    .describe("Taken from the version that has it. Left out, the label stays; null removes it."),
  note: z
    .string()
    .max(2_000, "must have at most 2,000 characters")
    .nullable()
    .optional()
    .describe("Left out, the note stays; null removes it."),
});

export type VersionChanges = z.output<typeof changeVersionSchema>;
