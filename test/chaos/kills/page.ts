import { join } from "node:path";
import type { KilledRun } from "./measure.ts";

export const PAGE = join(import.meta.dirname, "../../../docs/design/kills.md");

/** The page as it follows from what was measured. */
export function pageOf(rows: readonly KilledRun[]): string {
  const table = (policy: KilledRun["policy"]): string =>
    rows
      .filter((row) => row.policy === policy)
      .map(({ killed, disk, next }) => `| ${killed} | ${disk} | ${next} |`)
      .join("\n");
  return `# Killed here

\`npm run kills\` writes this page: it kills the process with SIGKILL at each of these places, reads the database from outside, and
counts what the next load asks of the model and of the tool. \`test/chaos/kills.long.test.ts\` compares the page.

The run is the one of an agent that asks its model, carries out a tool, and asks its model again: turn 0 relays the task, turn 1 does
the rest. No client asks after it; the alarm alone loads the object. What must hold is on the page about
[the engine](engine.md#what-must-hold).

## A tool that may run again

| killed here | what is on disk | what the next load does |
|---|---|---|
${table("retry")}

## A tool that must not run twice

| killed here | what is on disk | what the next load does |
|---|---|---|
${table("never")}
`;
}
