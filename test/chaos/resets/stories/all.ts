import { APPROVALS } from "./approvals.ts";
import { BOARD } from "./board.ts";
import { COLLECTION } from "./collection.ts";
import { LOGINS } from "./logins.ts";
import { DELETION, MEMORIES } from "./memories.ts";
import { SKILLS } from "./skills.ts";
import { QUEUE, STATE } from "./state.ts";
import type { Story } from "./story.ts";
import { STEERING } from "./steering.ts";
import { STREAMS } from "./streams.ts";

export const STORIES: readonly Story[] = [
  MEMORIES,
  COLLECTION,
  STREAMS,
  STATE,
  QUEUE,
  STEERING,
  LOGINS,
  SKILLS,
  DELETION,
  BOARD,
  APPROVALS,
];
