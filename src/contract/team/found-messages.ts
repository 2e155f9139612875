import * as z from "zod";
import { idSchema } from "../common.ts";

/** The most messages that a search in one team reads, the latest first. */
export const MOST_SEARCHED_MESSAGES = 5_000;

const foundMessageSchema = z.object({
  seq: z.number().int(),
  turn: z.number().int(),
  type: z.string(),
  source: z.string(),
  excerpt: z.string().describe("The text around the first place, up to 200 characters."),
});

/** The messages of a team in which words were found. */
export const foundMessagesSchema = z.object({
  messages: z.array(foundMessageSchema).describe("The latest first."),
  searched_to: z
    .number()
    .int()
    .nullable()
    .describe("Pass as before to search earlier messages; null at the beginning."),
});

export type FoundMessages = z.infer<typeof foundMessagesSchema>;

export interface MessageSearch {
  q: string;
  before?: number | undefined;
  limit: number;
  /** The most messages that are read. Default {@link MOST_SEARCHED_MESSAGES}. */
  most?: number;
}

/** A search over all teams asks this many of them, those that were active last, and reads this many messages of each. */
export const MOST_SEARCHED_TEAMS = 20;
export const MOST_SEARCHED_MESSAGES_EACH = 1_000;

/** The messages of several teams in which words were found. */
export const foundInTeamsSchema = z.object({
  messages: z
    .array(foundMessageSchema.extend({ team_id: idSchema, team_label: z.string().nullable() }))
    .describe("Team by team, the team that was active last first; the latest of each team first."),
  searched_teams: z
    .array(idSchema)
    .describe("The teams that were asked and have answered, as those that were active last."),
  complete: z
    .boolean()
    .describe(
      "Whether all messages that match are in the answer: no team is left, none was late, and none has more.",
    ),
  next_cursor: z
    .string()
    .nullable()
    .describe("Pass as cursor to ask the next teams; null at the end."),
});

export type FoundInTeams = z.infer<typeof foundInTeamsSchema>;
