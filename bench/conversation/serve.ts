import { createInterface } from "node:readline";
import { type ConversationOptions, takeTurns } from "./peer.ts";

/** Says something and waits for the reply. */
export type Say = (text: string) => Promise<unknown>;

/** A line of input: opens a conversation, or takes turns in the one that was opened last. */
export type Command = { open: ConversationOptions } | { turns: number };

/** Leads conversations for the parent process: a line of JSON comes in, a line goes out. */
export async function serve(open: (options: ConversationOptions) => Promise<Say>): Promise<void> {
  const answer = (value: object): boolean => process.stdout.write(`${JSON.stringify(value)}\n`);
  let say: Say | undefined;
  answer({});
  for await (const line of createInterface({ input: process.stdin })) {
    const command = JSON.parse(line) as Command;
    if ("open" in command) {
      say = await open(command.open);
      answer({});
    } else if (say !== undefined) answer(await takeTurns(say, command.turns, cpu));
  }
}

function cpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
