import * as z from "zod";
import { boardTaskSchema, type BoardTask } from "../board/board-task.ts";
import { Board, boardText, type StoredChange } from "../board/board.ts";
import { MOST_TASKS, TaskList } from "../board/task-list.ts";
import { taskTools } from "../board/task-tools.ts";
import {
  type AnyComponentDefinition,
  componentDefinition,
  withoutNulls,
} from "../component/component.ts";
import type { ChatCompletionContext } from "../context/chat-completion-context.ts";
import type { JsonObject } from "../json.ts";
import { asData } from "../memory/as-data.ts";
import { type MemoryContent, searchText } from "../memory/memory-content.ts";
import { aText, checkOptions, type OptionsSchema } from "../options/options.ts";
import type { BoardSharer } from "../run/run-observer.ts";
import { parseState } from "../state/load-state.ts";
import type { StreamTool } from "../tools/tool.ts";
import type { TurnContext } from "../turn/turn-context.ts";
import type { Memory } from "./memory.ts";

const configSchema = z.object({ name: z.string().nullish() });

const stateSchema = z.object({ tasks: z.array(boardTaskSchema).max(MOST_TASKS) });

/** The changes that an agent reads before a model call. They are recorded. */
interface View {
  read: readonly StoredChange[];
  /** Null when the agent has seen them as they are. */
  tasks: readonly BoardTask[] | null;
}

export interface TaskBoardOptions {
  name?: string | null | undefined;
}

const optionsSchema: OptionsSchema<TaskBoardOptions> = z.object({ name: aText.nullish() });

/**
 * The list of tasks of a team. All agents that have this memory share one board, also those of nested teams: each sees it in its
 * system message and changes it with the tools `add_task`, `claim_task`, `update_task` and `finish_task`. A task has one owner at
 * a time. The board changes when a turn commits, and people change it over `/v1/teams/{team}/tasks`.
 *
 * @example
 * const worker = new AssistantAgent({ name: "worker", modelClient, memory: [new TaskBoard()] });
 */
export class TaskBoard implements Memory, BoardSharer {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "troupe.memory.TaskBoard",
    componentType: "memory",
    role: "memory",
    version: 1,
    configSchema,
    fromConfig: (config) => new TaskBoard(config),
  });

  readonly definition = TaskBoard.component;
  readonly name: string;
  readonly tools: readonly StreamTool[];
  #board = new Board();
  /** The model's view: the board as of the agent's turn, with its own changes. */
  #seen = new TaskList();

  constructor(options: TaskBoardOptions = {}) {
    this.name = checkOptions(optionsSchema, options, "TaskBoard").name || "task_board";
    this.tools = taskTools(
      this.definition,
      () => this.#board,
      (change) => this.#seen.apply(change),
    );
  }

  get board(): Board {
    return this.#board;
  }

  shareBoard(board: Board): void {
    this.#board = board;
  }

  /** The board is in the system message, not among the messages of the context. */
  async updateContext(_context: ChatCompletionContext, ctx: TurnContext): Promise<MemoryContent[]> {
    this.#seen = new TaskList(this.#board.atTurn);
    await this.beforeCall(ctx);
    return [];
  }

  /** Reads what people and other agents have changed meanwhile. */
  async beforeCall(ctx: TurnContext): Promise<void> {
    // Agents that work side by side change it in any order: a turn that runs again must see what it saw.
    const { tasks } = await ctx.step(
      "tasks",
      (): Promise<View> => {
        const read = this.#board.readIncoming();
        const present = this.#board.list.tasks;
        return Promise.resolve({ read, tasks: this.#hasSeen(present) ? null : present });
      },
      { onReplay: ({ read }) => this.#board.readAgain(read) },
    );
    if (tasks !== null) this.#seen = new TaskList(tasks);
  }

  #hasSeen(tasks: readonly BoardTask[]): boolean {
    return JSON.stringify(tasks) === JSON.stringify(this.#seen.tasks);
  }

  systemText({ memory }: TurnContext): string {
    const rules =
      "Your team has a board of tasks, in their order. Claim a task before you work on it, and finish it when it is done. Its tools are add_task, claim_task, update_task and finish_task.";
    return `${rules} ${asData("tasks", boardText(this.#seen), memory)}`;
  }

  query(): Promise<MemoryContent[]> {
    return Promise.resolve(
      this.#board.list.tasks.map(({ id, title, note }) => ({
        content: note === null ? title : `${title}\n${note}`,
        mime_type: "text/plain",
        metadata: { id },
      })),
    );
  }

  /** Adds a task with this title. */
  add({ content }: MemoryContent): Promise<void> {
    const { list } = this.#board;
    const title = searchText(content);
    this.#board.apply(list.planAdd(list.freeId("t"), { title }, new Date().toISOString()));
    return Promise.resolve();
  }

  clear(): Promise<void> {
    this.#board.replace([]);
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  saveState(): JsonObject {
    return { tasks: this.#board.list.tasks as unknown as JsonObject[] };
  }

  loadState(state: JsonObject): void {
    const { tasks } = parseState(stateSchema, state, `a state of the memory "${this.name}"`);
    this.#board.replace(tasks);
  }

  toConfig(): JsonObject {
    return withoutNulls({ name: this.name });
  }
}
