import type { ListedRequest } from "../../contract/directory.ts";
import { isChatMessage } from "../../core/messages/kinds.ts";
import { toText } from "../../core/messages/views.ts";
import type { Stores } from "../storage/stores.ts";

/** What a question in the inbox says of where it comes from. */
export type Occasion = Pick<ListedRequest, "team_id" | "team_label" | "task" | "said">;

const LONGEST_TASK = 500;
const LONGEST_SAID = 2_000;
/** Larger messages are not read. */
const MOST_READ = 500_000;
/** Messages looked through: the last may be events. */
const MOST_MESSAGES = 20;

/** The team, the task of the run, and the last message before the question. */
export function occasionOf({ log, runs, team }: Stores, run: string): Occasion {
  const { id, label } = team.record;
  const stored = runs.byId(run);
  const task = stored && runs.taskSize(stored) <= MOST_READ ? runs.task(stored) : null;
  return {
    team_id: id,
    team_label: label,
    task: task && beginning(task.map(toText).join("\n\n"), LONGEST_TASK),
    said: saidBefore(log, stored?.record.first_event ?? log.last),
  };
}

/** @param after the cursor before the run's first event */
function saidBefore(log: Stores["log"], after: number): Occasion["said"] {
  let left = MOST_MESSAGES;
  for (const said of log.backwards(after)) {
    if (left-- === 0 || said.size > MOST_READ) return null;
    const message = said.read();
    if (isChatMessage(message)) {
      return { source: message.source, text: beginning(toText(message), LONGEST_SAID) };
    }
  }
  return null;
}

function beginning(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
