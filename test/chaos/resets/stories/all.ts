import { COLLECTION } from "./collection.ts";
import { LOGINS } from "./logins.ts";
import { DELETION, MEMORIES } from "./memories.ts";
import { QUEUE, STATE } from "./state.ts";
import type { Story } from "./story.ts";
import { STREAMS } from "./streams.ts";

export const STORIES: readonly Story[] = [
  MEMORIES,
  COLLECTION,
  STREAMS,
  STATE,
  QUEUE,
  LOGINS,
  DELETION,
];
