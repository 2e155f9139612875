import type { LogEntry } from "#core/log.ts";

/** What the objects wrote into the log. */
export const logged: LogEntry[] = [];
