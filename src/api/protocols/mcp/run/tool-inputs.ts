import * as z from "zod";
import { idSchema } from "../../../../contract/common.ts";
import {
  ANSWER_REQUEST,
  GET_RUN,
  LIST_TEAMS,
  READ_RUN,
  RUN_TEAM,
  RUN_TEMPLATE,
  STOP_RUN,
} from "../session/access.ts";

/** Seconds that a call waits for its run by default: clients give up after sixty. */
const WAIT_SECONDS = 50;
/** Seconds that a page may wait for changes in a run. */
const LONGEST_READ = 60;
/** Files of one call. */
const MOST_FILES = 20;
/** Characters of the name of a conversation. */
const LONGEST_CONVERSATION = 200;

/** Seconds that a call waits for its run, unless it says how long. */
export function defaultWait(mostSeconds: number): number {
  return Math.min(WAIT_SECONDS, mostSeconds);
}

/** A file of a task. Exactly one of `data`, `path` and `url` is given. */
const fileSchema = z.strictObject({
  data: z.string().optional().describe("The bytes as base64."),
  path: z.string().optional().describe("Instead of data: a file of the team's workspace."),
  url: z.string().optional().describe("Instead of data: where the file is fetched."),
  name: z.string().optional(),
  media_type: z.string().optional().describe("With data that is not a picture."),
});
export type CallFile = z.output<typeof fileSchema>;

/**
 * The arguments of the tools.
 *
 * @param mostSeconds the longest time that a call may wait
 * @param tasks whether a run that continues becomes a task, so that its call need not wait
 */
export function toolInputs(mostSeconds: number, tasks: boolean) {
  const seconds = z
    .number()
    .int()
    .min(0)
    .max(mostSeconds)
    .describe("Seconds to wait for the end of the run. The run continues after that.");
  const wait_seconds = seconds.default(defaultWait(mostSeconds));
  const run = { team_id: idSchema, run_id: idSchema };
  const given = {
    task: z.string().min(1).describe("The task of the team, or the next message to it."),
    files: z
      .array(fileSchema)
      .min(1)
      .max(MOST_FILES)
      .optional()
      .describe("Files of the task: pictures, PDF and texts."),
  };
  const wait = { wait_seconds: tasks ? seconds.default(0) : wait_seconds };
  const conversation = z
    .string()
    .min(1)
    .max(LONGEST_CONVERSATION)
    .optional()
    .describe(
      "The conversation to continue, as an earlier result names it; any other text begins one. Left out, that of this session, or a new one.",
    );
  return {
    run: z.strictObject({ ...given, ...wait }),
    template: z.strictObject({ ...given, conversation, ...wait }),
    [RUN_TEAM]: z.strictObject({
      team: idSchema.describe("The id of the team: list_teams lists them."),
      ...given,
      ...wait,
    }),
    [RUN_TEMPLATE]: z.strictObject({
      template: z.string().min(1).max(200).describe("The name of the template."),
      ...given,
      conversation,
      ...wait,
    }),
    [GET_RUN]: z.strictObject({ ...run, wait_seconds }),
    [STOP_RUN]: z.strictObject(run),
    [ANSWER_REQUEST]: z.strictObject({
      ...run,
      request_id: z.string().min(1).max(500),
      content: z.string().optional().describe("The answer to a request of the kind input."),
      approved: z.boolean().optional().describe("The answer to a request of the kind approval."),
      reason: z.string().max(10_000).optional().describe("The reason of an approval or a refusal."),
      arguments: z
        .record(z.string(), z.unknown())
        .optional()
        .describe("Replace the arguments of the approved call."),
      allow: z
        .enum(["run", "team"])
        .optional()
        .describe("The approval counts for equal calls of the run or the team as well."),
      revision: z.int().min(1).optional().describe("That of the request as it was shown."),
      wait_seconds,
    }),
    [READ_RUN]: z.strictObject({
      team_id: idSchema.optional(),
      run_id: idSchema.optional().describe("Left out, the run that a call has just started."),
      call: z
        .strictObject({
          tool: z.string().max(200).optional(),
          task: z.string().optional(),
        })
        .optional()
        .describe("The call, without run_id."),
      after: z.int().min(0).default(0).describe("The cursor of an earlier answer."),
      seen: z.string().max(100).optional().describe("The state of an earlier answer."),
      wait_seconds: z
        .int()
        .min(0)
        .max(LONGEST_READ)
        .default(0)
        .describe("Seconds to wait for something that the caller has not seen."),
    }),
    [LIST_TEAMS]: z.strictObject({
      q: z.string().min(1).max(200).optional().describe("A part of the label or the id."),
      cursor: z.string().max(500).optional().describe("A next_cursor of an earlier answer."),
    }),
  };
}

export type ToolInputs = ReturnType<typeof toolInputs>;

export const teamsOutputSchema = z.object({
  teams: z.array(
    z.object({
      id: z.string(),
      label: z.string().nullable(),
      description: z.string(),
      status: z.string(),
      tool: z.string().describe("The name of the tool that runs it."),
    }),
  ),
  templates: z
    .array(z.object({ name: z.string(), description: z.string(), tool: z.string() }))
    .describe("On the first page: teams that a call makes for its caller alone."),
  next_cursor: z.string().nullable(),
});
