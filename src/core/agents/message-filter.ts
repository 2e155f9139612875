import * as z from "zod";
import type { ChatMessage } from "../messages/message.ts";

/** The messages of one source that pass: all, or the `count` first or last of them (AutoGen `PerSourceFilter`). */
export interface PerSourceFilter {
  source: string;
  position?: "first" | "last" | null | undefined;
  count?: number | null | undefined;
}

const perSourceFilterSchema: z.ZodType<PerSourceFilter> = z
  .object({
    source: z.string(),
    position: z.enum(["first", "last"]).nullish(),
    count: z.number().int().nullish(),
  })
  .refine(({ position, count }) => count == null || position != null, {
    path: ["position"],
    message: 'must be "first" or "last" when there is a count',
  });

/** The filters of a `MessageFilterConfig`, one per source. */
export const perSourceSchema = z.array(perSourceFilterSchema);

/** The messages that pass, source by source in the order of the filters. */
export function filterMessages(
  filters: readonly PerSourceFilter[],
  messages: readonly ChatMessage[],
): ChatMessage[] {
  return filters.flatMap(({ source, position, count }) => {
    const said = messages.filter((message) => message.source === source);
    if (position == null || count == null) return said;
    if (position === "first") return said.slice(0, count);
    return count === 0 ? [] : said.slice(-count);
  });
}
