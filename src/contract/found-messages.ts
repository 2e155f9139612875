import * as z from "zod";

/** The most messages that one search reads, the latest first. */
export const MOST_SEARCHED_MESSAGES = 5_000;

/** The messages of a team in which words were found. */
export const foundMessagesSchema = z.object({
  messages: z
    .array(
      z.object({
        seq: z.number().int(),
        turn: z.number().int(),
        type: z.string(),
        source: z.string(),
        excerpt: z.string().describe("The text around the first place, up to 200 characters."),
      }),
    )
    .describe("The latest first."),
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
}
