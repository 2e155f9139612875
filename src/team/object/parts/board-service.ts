import type { Idempotency } from "../../../contract/common.ts";
import {
  idempotencyMismatch,
  ok,
  refuse,
  refuseInput,
  type Refused,
  type Result,
} from "../../../contract/result.ts";
import type {
  AddTask,
  ChangeTask,
  TaskOnBoard,
  TasksOfTeam,
} from "../../../contract/team/board.ts";
import type { BoardTask, TaskChange } from "../../../core/board/board-task.ts";
import { MOST_TASKS, TaskList } from "../../../core/board/task-list.ts";
import type { RunEngine } from "../../engine/run-engine.ts";
import type { TeamCache } from "../../engine/team-cache.ts";
import type { Stores } from "../../storage/stores.ts";
import type { IdleChanges } from "./idle-changes.ts";

export interface BoardServiceOptions {
  stores: Stores;
  engine: RunEngine;
  cache: TeamCache;
  changes: IdleChanges;
}

/**
 * The board as people see and change it: the tasks of the last commit with the changes that wait. A change is committed at once
 * while the team is idle; during a run it waits until an agent's next model call, or the end of the turn.
 */
export class BoardService {
  readonly #stores: Stores;
  readonly #engine: RunEngine;
  readonly #cache: TeamCache;
  readonly #changes: IdleChanges;

  constructor({ stores, engine, cache, changes }: BoardServiceOptions) {
    this.#stores = stores;
    this.#engine = engine;
    this.#cache = cache;
    this.#changes = changes;
  }

  async tasks(): Promise<Result<TasksOfTeam>> {
    const list = await this.#list();
    if (!list.ok) return list;
    return ok({ tasks: list.value?.tasks.map(withPosition) ?? [] });
  }

  async add(task: AddTask, idempotency: Idempotency | undefined): Promise<Result<TaskOnBoard>> {
    const earlier = idempotency && this.#stores.board.addedBy(idempotency.key);
    if (earlier !== undefined) {
      if (earlier.hash !== idempotency?.hash) return idempotencyMismatch();
      return this.#one(earlier.task);
    }
    let id = "";
    const changed = await this.#change(
      (list) => {
        if (list.tasks.length >= MOST_TASKS) return tooManyTasks();
        id = list.freeId("p");
        return ok(list.planAdd(id, task, new Date().toISOString()));
      },
      () => {
        if (idempotency !== undefined) this.#stores.board.remember(idempotency, id);
      },
    );
    return changed.ok ? this.#one(id) : changed;
  }

  async change(id: string, edit: ChangeTask): Promise<Result<TaskOnBoard>> {
    const changed = await this.#change((list) => {
      if (list.find(id) === undefined) return taskNotFound();
      return ok(list.planEdit(id, edit, new Date().toISOString()));
    });
    return changed.ok ? this.#one(id) : changed;
  }

  remove(id: string): Promise<Result<null>> {
    return this.#change((list) =>
      list.find(id) === undefined ? taskNotFound() : ok(list.planDelete(id)),
    );
  }

  /** @param written more of the transaction that stores the change */
  async #change(
    plan: (list: TaskList) => Result<TaskChange>,
    written: () => void = () => undefined,
  ): Promise<Result<null>> {
    const { board, db } = this.#stores;
    if (this.#engine.occupant === undefined) return this.#changeIdle(plan, written);
    const list = await this.#list();
    if (!list.ok) return list;
    if (list.value === undefined) return noBoard();
    try {
      const change = plan(list.value);
      if (!change.ok) return change;
      db.transaction(() => {
        board.add(change.value);
        written();
      });
      return ok(null);
    } catch (error) {
      return refuseInput(error);
    }
  }

  async #changeIdle(
    plan: (list: TaskList) => Result<TaskChange>,
    written: () => void,
  ): Promise<Result<null>> {
    const changed = await this.#changes.whileIdle<Refused | null>(async () => {
      const open = await this.#changes.fresh();
      return () => {
        const { board } = open;
        if (board === undefined) return noBoard();
        board.readIncoming();
        const change = plan(board.list);
        if (!change.ok) return change;
        board.apply(change.value);
        this.#changes.store(open, "same", () => {
          this.#stores.board.removeUpTo(board.readUpTo);
          written();
        });
        return null;
      };
    });
    return changed.ok ? (changed.value ?? ok(null)) : changed;
  }

  /** The tasks as people see them; undefined where no agent has the board. */
  async #list(): Promise<Result<TaskList | undefined>> {
    try {
      const committed = await this.#committed();
      if (committed === undefined) return ok(undefined);
      const list = new TaskList(committed);
      for (const { change } of this.#stores.board.changes) list.apply(change);
      return ok(list);
    } catch (error) {
      return refuseInput(error);
    }
  }

  async #committed(): Promise<readonly BoardTask[] | undefined> {
    const open = await this.#cache.open().catch(() => undefined);
    // A team whose secrets cannot be read has its board all the same.
    if (open === undefined) return (await this.#changes.fresh()).board?.list.tasks;
    return this.#cache.visibleState["tasks"] as unknown as BoardTask[] | undefined;
  }

  async #one(id: string): Promise<Result<TaskOnBoard>> {
    const list = await this.#list();
    if (!list.ok) return list;
    const index = list.value?.tasks.findIndex((task) => task.id === id) ?? -1;
    const task = list.value?.tasks[index];
    return task === undefined ? taskNotFound() : ok(withPosition(task, index));
  }
}

function withPosition(task: BoardTask, position: number): TaskOnBoard {
  return { ...task, depends_on: [...task.depends_on], position };
}

function taskNotFound(): Refused {
  return refuse(404, "task_not_found", "The team has no such task.");
}

function noBoard(): Refused {
  const detail =
    "No agent of the team has the memory troupe.memory.TaskBoard, so the team has no board of tasks.";
  return refuse(409, "no_task_board", detail);
}

function tooManyTasks(): Refused {
  const detail = `The board has ${MOST_TASKS} tasks, the most that are allowed. Delete some that are done.`;
  return refuse(429, "too_many_tasks", detail, { limit: "tasks", value: MOST_TASKS });
}
