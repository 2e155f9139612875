import * as z from "zod";
import type { Component } from "../component/component.ts";
import { ValueError } from "../errors.ts";
import { OwnTool } from "../tools/function/own-tool.ts";
import type { StreamTool, ToolCallContext } from "../tools/tool.ts";
import type { Board } from "./board.ts";
import {
  dependenciesSchema,
  noteSchema,
  type TaskChange,
  type TaskEdit,
  taskIdSchema,
  titleSchema,
} from "./board-task.ts";
import { invalid } from "./task-list.ts";

/** A change that the model has asked for, or why it was refused. It is recorded. */
type Outcome = { change: TaskChange } | { refusal: string };

interface ToolCallOnBoard extends ToolCallContext {
  board: Board;
  /** The agent that calls. */
  agent: string;
}

const idField = taskIdSchema.describe("The task's id.");
const noteField = noteSchema.describe("A result, a reason or a hint for whoever reads the task.");

/**
 * The tools with which an agent changes the board of its team.
 *
 * @param definition the one of their memory
 * @param boardOf gives the board, which the memory may exchange for another one
 */
export function taskTools(
  definition: Component["definition"],
  boardOf: () => Board,
  applied: (change: TaskChange) => void,
): StreamTool[] {
  const change = async (
    name: string,
    context: ToolCallContext,
    plan: (call: ToolCallOnBoard) => TaskChange,
  ): Promise<TaskChange> => {
    const { ctx, caller = "agent" } = context;
    const board = boardOf();
    const outcome = await ctx.step<Outcome>(
      name,
      () => {
        const made = tried(() => plan({ ...context, board, agent: caller }));
        if ("change" in made) board.apply(made.change);
        return Promise.resolve(made);
      },
      {
        onReplay: (recorded) => {
          if ("change" in recorded) board.apply(recorded.change);
        },
      },
    );
    if ("refusal" in outcome) throw new ValueError(outcome.refusal);
    applied(outcome.change);
    return outcome.change;
  };

  return [
    new OwnTool(definition, {
      name: "add_task",
      description: "Adds a task to the team's board, at its end.",
      parameters: z.object({
        title: titleSchema.describe("The task in one line."),
        note: noteField.nullish(),
        depends_on: dependenciesSchema
          .nullish()
          .describe("The ids of tasks that must end before this one can be claimed."),
      }),
      run: async ({ title, note, depends_on }, context) => {
        const made = await change("add", context, ({ board: { list } }) =>
          list.planAdd(list.freeId("t"), { title, note, depends_on: depends_on ?? [] }, now()),
        );
        return made.kind === "add" ? `The task is added as ${made.task.id}.` : "";
      },
    }),
    new OwnTool(definition, {
      name: "claim_task",
      description: "Makes a task yours before you work on it, so that no other agent does.",
      parameters: z.object({ id: idField }),
      run: async ({ id }, context) => {
        await change("claim", context, (call) => claim(call, id));
        return `The task ${id} is yours.`;
      },
    }),
    new OwnTool(definition, {
      name: "update_task",
      description:
        "Changes a task that is yours or that no one has claimed: its title, its note, its dependencies; gives it back (open) or drops it (dropped).",
      parameters: z.object({
        id: idField,
        title: titleSchema.nullish(),
        note: noteField.nullish(),
        depends_on: dependenciesSchema.nullish().describe("All of its dependencies."),
        state: z.enum(["open", "dropped"]).nullish(),
      }),
      run: async ({ id, ...fields }, context) => {
        const edit = Object.fromEntries(
          Object.entries(fields).filter(([, value]) => value != null),
        ) as TaskEdit;
        await change("update", context, ({ board: { list }, agent }) => {
          const { owner, state } = list.require(id);
          if (state === "claimed" && owner !== agent) throw takenBy(id, owner);
          return list.planEdit(id, edit, now());
        });
        return `The task ${id} is changed.`;
      },
    }),
    new OwnTool(definition, {
      name: "finish_task",
      description: "Marks your task as done, with a note about its result.",
      parameters: z.object({ id: idField, note: noteField.nullish() }),
      run: async ({ id, note }, context) => {
        await change("finish", context, ({ board: { list }, agent }) => {
          const { owner, state } = list.require(id);
          if (state !== "claimed") throw invalid("id", `"${id}" is ${state}; claim it first`);
          if (owner !== agent) throw takenBy(id, owner);
          return list.planEdit(id, { state: "done", ...(note != null && { note }) }, now());
        });
        return `The task ${id} is done.`;
      },
    }),
  ];
}

function claim({ board: { list }, agent }: ToolCallOnBoard, id: string): TaskChange {
  const task = list.require(id);
  const { state, owner } = task;
  if (state === "done" || state === "dropped") throw invalid("id", `"${id}" is ${state}`);
  if (owner !== null && owner !== agent) throw takenBy(id, owner);
  const open = list.openDependencies(task).map((one) => one.id);
  if (open.length > 0) {
    throw invalid("id", `"${id}" cannot be claimed before ${open.join(", ")} ended`);
  }
  return list.planEdit(id, { owner: agent, state: "claimed" }, now());
}

function takenBy(id: string, owner: string | null): ValueError {
  return invalid("id", `"${id}" belongs to ${owner ?? "another agent"}`);
}

function now(): string {
  return new Date().toISOString();
}

function tried(plan: () => TaskChange): Outcome {
  try {
    return { change: plan() };
  } catch (error) {
    if (error instanceof ValueError) return { refusal: error.message };
    throw error;
  }
}
