import { createInterface } from "node:readline";

/** A conversation of an agent with ten tools, in the process of a library. */
export interface CachingOptions {
  /** URL of the model server, ending in `/v1` for OpenAI's models. */
  baseURL: string;
  model: string;
  turns: number;
  /** Whether the library keeps its default settings for prompt caches. */
  caches: boolean;
}

export const SYSTEM = "You are a helper of the archive. You answer in plain words. ".repeat(12);

export interface ArchiveTool {
  name: string;
  description: string;
}

export const TOOLS: readonly ArchiveTool[] = Array.from({ length: 10 }, (_, index) => ({
  name: `tool_${index}`,
  description: `Searches the archive of kind ${index}. ${"It takes a query in plain words. ".repeat(8)}`,
}));

/** What every tool answers. */
export const RESULT = "Sunny, 20 degrees. ".repeat(4);

/** What the user says: every third time the model calls a tool. */
export function task(turn: number): string {
  return turn % 3 === 0 ? `Look it up: ${turn}.` : `Tell me more about ${turn}.`;
}

/** Leads conversations for the parent process: a line of JSON comes in, a line goes out. */
export async function serveConversations(
  open: (options: CachingOptions) => (text: string) => Promise<unknown>,
): Promise<void> {
  console.log("{}");
  for await (const line of createInterface({ input: process.stdin })) {
    const options = JSON.parse(line) as CachingOptions;
    const say = open(options);
    for (let turn = 0; turn < options.turns; turn++) await say(task(turn));
    console.log("{}");
  }
}
