import * as z from "zod";
import {
  boardTaskSchema,
  dependenciesSchema,
  noteSchema,
  ownerSchema,
  taskStates,
  titleSchema,
} from "../../core/board/board-task.ts";
import { MOST_TASKS } from "../../core/board/task-list.ts";

/** A task of a team's board. */
export const taskOnBoardSchema = boardTaskSchema.extend({
  position: z.int().min(0).describe("The index in the list, from 0."),
});

export type TaskOnBoard = z.output<typeof taskOnBoardSchema>;

export const boardSchema = z.object({
  tasks: z.array(taskOnBoardSchema).describe(`By position, at most ${MOST_TASKS}.`),
});

export type TasksOfTeam = z.output<typeof boardSchema>;

export const addTaskSchema = z.strictObject({
  title: titleSchema,
  note: noteSchema.nullable().optional(),
  depends_on: dependenciesSchema
    .optional()
    .describe("The ids of tasks that must end before an agent can claim this one."),
});

export type AddTask = z.input<typeof addTaskSchema>;

export const changeTaskSchema = z
  .strictObject({
    title: titleSchema.optional(),
    note: noteSchema.nullable().optional().describe("Null removes the note."),
    owner: ownerSchema
      .nullable()
      .optional()
      .describe("The agent or person whose task it is; null for nobody's."),
    state: z
      .enum(taskStates, `must be one of ${taskStates.join(", ")}`)
      .optional()
      .describe("A claimed task has an owner, and one that becomes open loses it."),
    depends_on: dependenciesSchema.optional().describe("All of its dependencies."),
    position: z
      .int("must be a whole number from 0")
      .min(0, "must be a whole number from 0")
      .optional()
      .describe("The new index in the list; one beyond the end is the end."),
  })
  .refine(
    (body) => Object.keys(body).length > 0,
    "must change one of title, note, owner, state, depends_on and position",
  );

export type ChangeTask = z.input<typeof changeTaskSchema>;
