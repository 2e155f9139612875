import { beginningOf } from "../cut.ts";
import type { BoardTask, TaskChange } from "./board-task.ts";
import { TaskList } from "./task-list.ts";

/** A change by people, and its number among those of its team. */
export interface StoredChange {
  seq: number;
  change: TaskChange;
}

/** The board of a team in memory: the agents that list it share one. */
export class Board {
  #list = new TaskList();
  #atTurn = this.#list.tasks;
  #readUpTo = 0;
  /** The changes by people that wait to be read, in their order. */
  incoming: () => readonly StoredChange[] = () => [];

  get list(): TaskList {
    return this.#list;
  }

  get isEmpty(): boolean {
    return this.#list.tasks.length === 0;
  }

  /** The tasks at the beginning of the turn. A turn that runs again begins with the same ones. */
  get atTurn(): readonly BoardTask[] {
    return this.#atTurn;
  }

  /** The number of the last change by people that was read. */
  get readUpTo(): number {
    return this.#readUpTo;
  }

  beginTurn(): void {
    this.#atTurn = this.#list.tasks;
  }

  replace(tasks: readonly BoardTask[]): void {
    this.#list = new TaskList(tasks);
  }

  apply(change: TaskChange): void {
    this.#list.apply(change);
  }

  /** Makes the changes by people that wait. Returns them, because a turn that runs again reads the same ones at this place. */
  readIncoming(): readonly StoredChange[] {
    const changes = this.incoming().filter(({ seq }) => seq > this.#readUpTo);
    this.readAgain(changes);
    return changes;
  }

  readAgain(changes: readonly StoredChange[]): void {
    for (const { seq, change } of changes) {
      // Agents that run side by side repeat their reading in any order.
      if (seq <= this.#readUpTo) continue;
      this.#readUpTo = seq;
      this.apply(change);
    }
  }
}

/** The tasks and characters of a note that a model sees in its system message. */
const MOST_LINES = 50;
const MOST_CHARACTERS = 8000;
const MOST_NOTE = 300;

/** The board as a model sees it: what is left to do first, of bounded size. */
export function boardText(list: TaskList): string {
  const { tasks } = list;
  if (tasks.length === 0) return "The board is empty.";
  const left = tasks.filter(({ state }) => state === "open" || state === "claimed");
  const ended = tasks.filter(({ state }) => state === "done" || state === "dropped");
  const lines: string[] = [];
  let size = 0;
  for (const task of [...left, ...ended.toReversed()]) {
    const line = lineOf(task, list);
    size += line.length + 1;
    if (lines.length === MOST_LINES || size > MOST_CHARACTERS) break;
    lines.push(line);
  }
  const hidden = tasks.length - lines.length;
  if (hidden > 0) lines.push(`${hidden} more tasks are not shown.`);
  return lines.join("\n");
}

function lineOf(task: BoardTask, list: TaskList): string {
  const { id, title, note, owner, state } = task;
  const waits = state === "open" ? list.openDependencies(task).map((one) => one.id) : [];
  const facts = [
    state === "open" && owner !== null ? `open, for ${owner}` : state,
    ...(owner !== null && state !== "open" ? [`by ${owner}`] : []),
    ...(waits.length > 0 ? [`waits for ${waits.join(", ")}`] : []),
  ];
  const more = note === null ? "" : ` - ${beginningOf(note.replaceAll(/\s+/g, " "), MOST_NOTE)}`;
  return `${id} (${facts.join(" ")}) ${title}${more}`;
}
