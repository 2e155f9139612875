import { type Issue, ValueError } from "../errors.ts";
import type { BoardTask, NewTask, TaskChange, TaskEdit } from "./board-task.ts";

/** The most tasks of a board, those that are done or dropped included. */
export const MOST_TASKS = 500;
/** The most characters of a board as JSON: each commit that changes the board stores it whole. */
const MOST_BOARD_CHARACTERS = 256_000;

const NOTHING_OPEN: ReadonlySet<BoardTask["state"]> = new Set(["done", "dropped"]);

/**
 * The tasks of a board in their order. A change is planned first, which checks it, and then applied. An applied change cannot
 * fail: where the board has changed since it was planned, the part that no longer fits is left out.
 */
export class TaskList {
  #tasks: readonly BoardTask[];

  constructor(tasks: readonly BoardTask[] = []) {
    this.#tasks = tasks;
  }

  /** By position. A changed list is another array, so two lists can be compared by identity. */
  get tasks(): readonly BoardTask[] {
    return this.#tasks;
  }

  find(id: string): BoardTask | undefined {
    return this.#tasks.find((task) => task.id === id);
  }

  /** @throws ValueError for an unknown id, which names the ids that exist */
  require(id: string): BoardTask {
    const task = this.find(id);
    if (task !== undefined) return task;
    const ids = this.#tasks.map((one) => one.id).slice(0, 20);
    const existing = ids.length === 0 ? "the board is empty" : `the tasks are ${ids.join(", ")}`;
    throw invalid("id", `"${id}" does not exist; ${existing}`);
  }

  /** The tasks that must end before a task can be claimed. */
  openDependencies({ depends_on }: BoardTask): readonly BoardTask[] {
    return depends_on.flatMap((id) => {
      const task = this.find(id);
      return task === undefined || NOTHING_OPEN.has(task.state) ? [] : [task];
    });
  }

  /** An id that no task has: the prefix and a number. */
  freeId(prefix: string): string {
    const numbers = this.#tasks.flatMap(({ id }) =>
      id.startsWith(prefix) ? [Number(id.slice(prefix.length))] : [],
    );
    return `${prefix}${Math.max(0, ...numbers.filter(Number.isSafeInteger)) + 1}`;
  }

  /** @throws ValueError when the board is full or a dependency does not exist */
  planAdd(
    id: string,
    { title, note, depends_on = [] }: NewTask,
    at: string,
    owner: string | null = null,
  ): TaskChange {
    if (this.#tasks.length >= MOST_TASKS) {
      throw invalid("title", `cannot be added: the board has ${MOST_TASKS} tasks, the most it may`);
    }
    const dependencies = this.#dependencies(depends_on, undefined);
    const task: BoardTask = {
      id,
      title,
      note: note || null,
      owner,
      state: "open",
      depends_on: dependencies,
      created_at: at,
      updated_at: at,
    };
    return this.#fitting({ kind: "add", task }, "note");
  }

  /** @throws ValueError for an unknown task, a cycle of dependencies, or a claimed task without an owner */
  planEdit(id: string, given: TaskEdit, at: string): TaskChange {
    const task = this.require(id);
    const { depends_on, state, owner = task.owner, position, title, note } = given;
    if (state === "claimed" && owner === null) {
      throw invalid("owner", "must name who has claimed the task");
    }
    // A task that is given back has no owner, unless the same edit names one.
    const freed = state === "open" && given.owner === undefined;
    const edit = {
      ...(title !== undefined && { title }),
      ...(note !== undefined && { note: note || null }),
      ...(freed ? { owner: null } : given.owner !== undefined && { owner: given.owner }),
      ...(state !== undefined && { state }),
      ...(given.owner === null && task.state === "claimed" && !state && { state: "open" as const }),
      ...(depends_on !== undefined && { depends_on: this.#dependencies(depends_on, id) }),
      ...(position !== undefined && { position }),
    };
    return this.#fitting({ kind: "edit", id, edit, at }, "note");
  }

  /** @throws ValueError for an unknown task */
  planDelete(id: string): TaskChange {
    this.require(id);
    return { kind: "delete", id };
  }

  apply(change: TaskChange): void {
    this.#tasks = this.#with(change);
  }

  #with(change: TaskChange): readonly BoardTask[] {
    const tasks = this.#tasks;
    switch (change.kind) {
      case "add": {
        const { task } = change;
        if (this.find(task.id) !== undefined) return tasks;
        const depends_on = task.depends_on.filter((id) => this.find(id) !== undefined);
        return [...tasks, { ...task, depends_on }];
      }
      case "delete":
        return tasks.flatMap((task) => {
          if (task.id === change.id) return [];
          if (!task.depends_on.includes(change.id)) return [task];
          return [{ ...task, depends_on: task.depends_on.filter((id) => id !== change.id) }];
        });
      case "edit": {
        const { position, depends_on, ...fields } = change.edit;
        const index = tasks.findIndex(({ id }) => id === change.id);
        const old = tasks[index];
        if (old === undefined) return tasks;
        const dependencies = depends_on?.filter(
          (id) => this.find(id) !== undefined && !this.#leadsTo(id, change.id),
        );
        const task: BoardTask = {
          ...old,
          ...fields,
          ...(dependencies !== undefined && { depends_on: dependencies }),
          updated_at: change.at,
        };
        const next = tasks.toSpliced(index, 1);
        return next.toSpliced(position === undefined ? index : position, 0, task);
      }
    }
  }

  #dependencies(ids: readonly string[], of: string | undefined): string[] {
    for (const [index, id] of ids.entries()) {
      const path = `depends_on[${index}]`;
      if (this.find(id) === undefined) throw invalid(path, `"${id}" does not exist`);
      if (ids.indexOf(id) < index) throw invalid(path, `"${id}" is in the list twice`);
      if (of !== undefined && this.#leadsTo(id, of)) {
        throw invalid(path, `"${id}" would close a cycle: it depends on "${of}"`);
      }
    }
    return [...ids];
  }

  /** True if a task is the other one, or depends on it, also through others. */
  #leadsTo(from: string, to: string): boolean {
    const [seen, open] = [new Set<string>(), [from]];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (id === to) return true;
      if (seen.has(id)) continue;
      seen.add(id);
      open.push(...(this.find(id)?.depends_on ?? []));
    }
    return false;
  }

  #fitting(change: TaskChange, path: string): TaskChange {
    const size = JSON.stringify(this.#with(change)).length;
    if (size <= MOST_BOARD_CHARACTERS) return change;
    const most = `the board may have ${MOST_BOARD_CHARACTERS} characters as JSON`;
    throw invalid(path, `would make the board ${size} characters long, and ${most}`);
  }
}

/** An error about a field of a task. */
export function invalid(path: string, message: string): ValueError {
  const issues: Issue[] = [{ path, message }];
  return new ValueError(`${path} ${message}`, { issues });
}
