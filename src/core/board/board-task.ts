import * as z from "zod";

const MOST_TITLE = 200;
const MOST_NOTE = 2000;
const MOST_OWNER = 128;
const MOST_DEPENDENCIES = 50;

export const taskStates = ["open", "claimed", "done", "dropped"] as const;
export type TaskState = (typeof taskStates)[number];

export const titleSchema = z
  .string()
  .trim()
  .min(1, "must have at least 1 character")
  .max(MOST_TITLE, `must have at most ${MOST_TITLE} characters`);
export const noteSchema = z.string().max(MOST_NOTE, `must have at most ${MOST_NOTE} characters`);
export const ownerSchema = z
  .string()
  .trim()
  .min(1, "must have at least 1 character")
  .max(MOST_OWNER, `must have at most ${MOST_OWNER} characters`);
export const taskIdSchema = z.string().min(1).max(64);
export const dependenciesSchema = z
  .array(taskIdSchema)
  .max(MOST_DEPENDENCIES, `must have at most ${MOST_DEPENDENCIES} tasks`);

/** A task as the board stores it; its place in the list is its position. */
export const boardTaskSchema = z.object({
  id: taskIdSchema,
  title: titleSchema,
  note: noteSchema.nullable(),
  owner: ownerSchema.nullable(),
  state: z.enum(taskStates),
  depends_on: dependenciesSchema,
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type BoardTask = Readonly<z.infer<typeof boardTaskSchema>>;

/** A new task, as an agent or a person writes it. */
export interface NewTask {
  title: string;
  note?: string | null | undefined;
  depends_on?: readonly string[] | undefined;
}

/** The changed fields of a task. Those that are left out stay as they are. */
export interface TaskEdit {
  title?: string | undefined;
  note?: string | null | undefined;
  owner?: string | null | undefined;
  state?: TaskState | undefined;
  depends_on?: readonly string[] | undefined;
  /** The index in the list, from 0. One beyond the end is the end. */
  position?: number | undefined;
}

/** A checked change of a board. It is stored, and applied again when a turn runs again. */
export const taskChangeSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("add"), task: boardTaskSchema }),
  z.object({
    kind: z.literal("edit"),
    id: taskIdSchema,
    edit: boardTaskSchema
      .pick({ title: true, note: true, owner: true, state: true, depends_on: true })
      .extend({ position: z.int().min(0) })
      .partial(),
    at: z.iso.datetime(),
  }),
  z.object({ kind: z.literal("delete"), id: taskIdSchema }),
]);
export type TaskChange = Readonly<z.infer<typeof taskChangeSchema>>;
