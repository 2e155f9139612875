import * as z from "zod";
import { commitStateSchema, stagedStateSchema } from "../team/state-parts.ts";
import { command } from "./command.ts";

/** The state of a team in parts: for states that are too large for one document. */
export const statePartCommands = {
  getStatePart: command({
    method: "get",
    path: "/v1/teams/:team/state/parts",
    summary: "A part of the state, as lines of JSON",
    tag: "Teams",
    scope: "teams:read",
    query: () =>
      z.strictObject({
        cursor: z
          .string()
          .min(1)
          .max(8_000)
          .optional()
          .describe(
            "next_cursor of the part before. Without it, the first part of the last committed state.",
          ),
        part: z
          .string()
          .regex(/^[1-9]\d{0,3}$/, "must be the number of the part, from 1")
          .transform(Number)
          .optional()
          .describe("The number of the part. Default 1."),
      }),
    answers: { 200: { description: "The lines of the part.", media: "application/x-ndjson" } },
    problems: [404],
  }),

  putStatePart: command({
    method: "put",
    path: "/v1/teams/:team/state/parts/:part",
    summary: "Stage a part of a state, for a commit of all of them",
    tag: "Teams",
    scope: "teams:write",
    reads: "file",
    answers: {
      200: { description: "The staged parts.", schema: { StagedState: stagedStateSchema } },
    },
    problems: [400, 404, 409, 413, 415, 507],
  }),

  stagedState: command({
    method: "get",
    path: "/v1/teams/:team/state/staged",
    id: "getStagedState",
    summary: "The parts that wait for their commit",
    tag: "Teams",
    scope: "teams:write",
    object: "team",
    answers: {
      200: { description: "The staged parts.", schema: { StagedState: stagedStateSchema } },
    },
    problems: [404],
  }),

  discardStagedState: command({
    method: "delete",
    path: "/v1/teams/:team/state/staged",
    summary: "Discard the parts that wait for their commit",
    tag: "Teams",
    scope: "teams:write",
    object: "team",
    answers: { 204: { description: "No part is staged." } },
    problems: [404],
  }),

  commitStagedState: command({
    method: "post",
    path: "/v1/teams/:team/state/commit",
    id: "commitState",
    summary: "Make the staged parts the state of the team",
    tag: "Teams",
    scope: "teams:write",
    object: "team",
    body: commitStateSchema,
    answers: { 204: { description: "The team has this state now." } },
    problems: [404, 409],
  }),
};
