import * as z from "zod";
import { idSchema, textSchema } from "../common.ts";
import {
  changeMemorySchema,
  createdMemoriesSchema,
  createMemoriesSchema,
  forgottenSchema,
  memoryPageSchema,
  memorySchema,
  memoryScopeSchema,
  memoryUsersSchema,
} from "../memory.ts";
import { listCursorParameter, pageSizeParameter } from "../query-parameters.ts";
import { userSchema } from "../user.ts";
import { command } from "./command.ts";

/** A thousand contents of some length. */
const MAX_BYTES = 20_000_000;
const LONGEST_QUESTION = 10_000;

/** Commands for the memories of teams, of users and of the tenant. */
export const memoryCommands = {
  listMemories: command({
    method: "get",
    path: "/v1/memories",
    summary: "What is remembered, newest first; with q as an agent would find it",
    tag: "Memories",
    scope: "teams:read",
    query: (limits) =>
      z.strictObject({
        scope: memoryScopeSchema.optional().describe("Left out: that of team or user."),
        team: idSchema.optional(),
        user: userSchema.optional(),
        q: textSchema(LONGEST_QUESTION).optional(),
        limit: pageSizeParameter(limits),
        cursor: listCursorParameter,
      }),
    answers: { 200: { description: "A page.", schema: { MemoryPage: memoryPageSchema } } },
    problems: [404],
  }),

  listMemoryUsers: command({
    method: "get",
    path: "/v1/memories/users",
    ofTenant: true,
    summary: "The users of whom something is remembered, by name; an identity token sees its own",
    tag: "Memories",
    scope: "teams:read",
    query: (limits) =>
      z.strictObject({ limit: pageSizeParameter(limits), cursor: listCursorParameter }),
    answers: { 200: { description: "A page.", schema: { MemoryUsers: memoryUsersSchema } } },
  }),

  createMemories: command({
    method: "post",
    path: "/v1/memories",
    summary: "Remember a content, or up to 1,000 of them: all or none",
    tag: "Memories",
    scope: "runs:write",
    body: createMemoriesSchema,
    idempotent: true,
    maxBytes: MAX_BYTES,
    answers: {
      201: {
        description: "The entry; of several the list `memories` of them.",
        schema: { CreatedMemory: z.union([memorySchema, createdMemoriesSchema]) },
      },
    },
    problems: [404, 507],
  }),

  changeMemory: command({
    method: "patch",
    path: "/v1/memories/:memory{[^/]+}",
    summary: "Correct an entry",
    tag: "Memories",
    scope: "runs:write",
    body: changeMemorySchema,
    answers: { 200: { description: "The entry.", schema: { Memory: memorySchema } } },
    problems: [404, 507],
  }),

  forgetMemory: command({
    method: "delete",
    path: "/v1/memories/:memory{[^/]+}",
    summary: "Forget an entry for good",
    tag: "Memories",
    scope: "runs:write",
    answers: { 204: { description: "It is forgotten." } },
    problems: [404],
  }),

  forgetMemories: command({
    method: "delete",
    path: "/v1/memories",
    summary: "Take back what a run has learned, or erase all memories of a user or of the tenant",
    tag: "Memories",
    scope: "runs:write",
    query: () =>
      z.strictObject({
        run: idSchema.optional().describe("Takes back what this run has learned, in every scope."),
        team: idSchema.optional().describe("With run: its team, where it is not listed any more."),
        scope: z
          .literal("tenant", 'must be "tenant"')
          .optional()
          .describe("Without run: erases the memories of the tenant."),
        user: userSchema
          .optional()
          .describe(
            "Without run: erases this user. With run: whose run it was, if its team is gone.",
          ),
      }),
    answers: {
      200: { description: "How many.", schema: { Forgotten: forgottenSchema } },
      204: {
        description: "They are erased; their data could not be read, so they were not counted.",
      },
    },
    problems: [404],
  }),
};
