import * as z from "zod";
import { MAX_STATE_DOCUMENT_BYTES } from "../constants.ts";
import {
  cursorParameter,
  pageSizeParameter,
  searchParameter,
  streamQuery,
} from "../query-parameters.ts";
import { nothingSchema } from "../run.ts";
import {
  componentBodySchema,
  createTeamSchema,
  forkTeamSchema,
  messagePageSchema,
  orComponent,
  sharedConversationSchema,
  stateSchema,
  teamSchema,
} from "../team.ts";
import { turnPageSchema } from "../turn.ts";
import { foundMessagesSchema } from "../team/found-messages.ts";
import { command } from "./command.ts";

/** Teams: their components, their state and their thread. */
export const teamCommands = {
  createTeam: command({
    method: "post",
    path: "/v1/teams",
    summary: "Create a team from a component or a template",
    tag: "Teams",
    scope: "teams:write",
    body: orComponent(createTeamSchema),
    idempotent: true,
    answers: {
      201: { description: "The team.", schema: { Team: teamSchema }, location: true, etag: true },
    },
    problems: [409, 429, 502],
  }),

  getTeam: command({
    method: "get",
    path: "/v1/teams/:team",
    summary: "A team, secrets redacted",
    tag: "Teams",
    scope: "teams:read",
    answers: { 200: { description: "The team.", schema: { Team: teamSchema }, etag: true } },
    problems: [404],
  }),

  replaceComponent: command({
    method: "put",
    path: "/v1/teams/:team/component",
    summary: "Replace the component and keep the state that still fits",
    tag: "Teams",
    scope: "teams:write",
    body: orComponent(componentBodySchema),
    conditional: true,
    answers: { 200: { description: "The team.", schema: { Team: teamSchema }, etag: true } },
    problems: [404, 409, 412, 502],
  }),

  deleteTeam: command({
    method: "delete",
    path: "/v1/teams/:team",
    summary: "Stop the run and erase everything stored",
    tag: "Teams",
    scope: "teams:write",
    answers: { 204: { description: "It is gone." } },
    problems: [404],
  }),

  resetTeam: command({
    method: "post",
    path: "/v1/teams/:team/reset",
    summary: "Back to the beginning: empty thread, empty contexts",
    tag: "Teams",
    scope: "teams:write",
    body: nothingSchema,
    bodyOptional: true,
    answers: { 200: { description: "The team.", schema: { Team: teamSchema }, etag: true } },
    problems: [404, 409],
  }),

  saveState: command({
    method: "get",
    path: "/v1/teams/:team/state",
    id: "getState",
    summary: "The last committed state",
    tag: "Teams",
    scope: "teams:read",
    object: "team",
    answers: { 200: { description: "The state.", schema: { State: stateSchema } } },
    problems: [404, 413],
  }),

  loadState: command({
    method: "put",
    path: "/v1/teams/:team/state",
    id: "putState",
    summary: "Load a saved state, also one saved by AutoGen",
    tag: "Teams",
    scope: "teams:write",
    object: "team",
    body: stateSchema,
    maxBytes: MAX_STATE_DOCUMENT_BYTES,
    answers: { 204: { description: "The team has this state now." } },
    problems: [404, 409],
  }),

  forkTeam: command({
    method: "post",
    path: "/v1/teams/:team/fork",
    summary: "A new team with the conversation up to the end of a finished turn",
    tag: "Teams",
    scope: "teams:write",
    body: forkTeamSchema,
    bodyOptional: true,
    idempotent: true,
    answers: {
      201: {
        description: "The new team.",
        schema: { Team: teamSchema },
        location: true,
        etag: true,
      },
    },
    problems: [404, 409, 429],
  }),

  listMessages: command({
    method: "get",
    path: "/v1/teams/:team/messages",
    summary: "The thread, oldest first",
    tag: "Teams",
    scope: "teams:read",
    query: (limits) =>
      z.strictObject({
        after: cursorParameter.optional().describe("Messages after this seq."),
        before: cursorParameter
          .optional()
          .describe("The last messages before this seq: pages back from the tail."),
        turn: cursorParameter.optional().describe("Only messages of this turn of the team."),
        limit: pageSizeParameter(limits),
      }),
    answers: { 200: { description: "A page.", schema: { MessagePage: messagePageSchema } } },
    problems: [404],
  }),

  findMessages: command({
    method: "get",
    path: "/v1/teams/:team/messages/search",
    summary: "Messages of the conversation that contain a text, the latest first",
    tag: "Teams",
    scope: "teams:read",
    object: "team",
    query: (limits) =>
      z.strictObject({
        q: searchParameter,
        before: cursorParameter.optional().describe("Messages before this seq."),
        limit: pageSizeParameter(limits),
      }),
    answers: {
      200: { description: "What was found.", schema: { FoundMessages: foundMessagesSchema } },
    },
    problems: [404],
  }),

  getConversation: command({
    method: "get",
    path: "/v1/teams/:team/conversation",
    summary: "The conversation as far as the credential may see it, for a link that shares it",
    tag: "Teams",
    scope: "conversation:read",
    query: (limits) =>
      z.strictObject({
        after: cursorParameter.optional().describe("Messages after this seq."),
        before: cursorParameter
          .optional()
          .describe("The last messages before this seq: pages back from the tail."),
        limit: pageSizeParameter(limits),
      }),
    answers: {
      200: { description: "A page.", schema: { SharedConversation: sharedConversationSchema } },
    },
    problems: [404],
  }),

  streamConversation: command({
    method: "get",
    path: "/v1/teams/:team/conversation/events",
    summary: "The conversation as it grows, as far as the credential may see it; stays open",
    tag: "Teams",
    scope: "conversation:read",
    query: () => streamQuery,
    resumable: true,
    answers: {
      200: {
        description: "The stream: messages, texts while they are written, retract and caught_up.",
        frames: "StreamFrame",
      },
    },
    problems: [404],
  }),

  listTurns: command({
    method: "get",
    path: "/v1/teams/:team/turns",
    summary:
      "The finished turns: who worked, how long, with which models and tokens, and the ledgers",
    tag: "Teams",
    scope: "teams:read",
    query: (limits) =>
      z.strictObject({
        after: cursorParameter.optional().describe("Turns after this one."),
        before: cursorParameter.optional().describe("The last turns before this one."),
        limit: pageSizeParameter(limits),
      }),
    answers: { 200: { description: "A page.", schema: { TurnPage: turnPageSchema } } },
    problems: [404],
  }),
};
