import { addTaskSchema, boardSchema, changeTaskSchema, taskOnBoardSchema } from "../team/board.ts";
import { command } from "./command.ts";

/** The board of tasks that the agents of a team share with people. */
export const taskCommands = {
  tasks: command({
    method: "get",
    path: "/v1/teams/:team/tasks",
    id: "listTasks",
    summary: "The tasks of the team's board, in their order",
    tag: "Tasks",
    scope: "runs:read",
    object: "team",
    answers: { 200: { description: "The board.", schema: { TasksOfTeam: boardSchema } } },
    problems: [404],
  }),

  addTask: command({
    method: "post",
    path: "/v1/teams/:team/tasks",
    summary: "Add a task at the end of the board; a run reads it before its next model call",
    tag: "Tasks",
    scope: "runs:write",
    object: "team",
    body: addTaskSchema,
    idempotent: true,
    answers: { 201: { description: "The task.", schema: { TaskOnBoard: taskOnBoardSchema } } },
    problems: [404, 409, 429],
  }),

  changeTask: command({
    method: "patch",
    path: "/v1/teams/:team/tasks/:task",
    summary: "Change fields of a task, or move it",
    tag: "Tasks",
    scope: "runs:write",
    object: "team",
    body: changeTaskSchema,
    answers: { 200: { description: "The task.", schema: { TaskOnBoard: taskOnBoardSchema } } },
    problems: [404, 409],
  }),

  deleteTask: command({
    method: "delete",
    path: "/v1/teams/:team/tasks/:task",
    summary: "Delete a task; others no longer depend on it",
    tag: "Tasks",
    scope: "runs:write",
    object: "team",
    answers: { 204: { description: "It is deleted." } },
    problems: [404, 409],
  }),
};
