import * as z from "zod";
import { PREVIEW_CHARACTERS } from "../constants.ts";
import {
  integerParameter,
  pageCursorParameter,
  loginUserParameter,
  pageSizeParameter,
  streamQuery,
} from "../query-parameters.ts";
import {
  answeredRunSchema,
  answerSchema,
  changeRunSchema,
  askedRequestSchema,
  humanRequestsSchema,
  nothingSchema,
  runLocation,
  runMessageSchema,
  runPageSchema,
  runSchema,
  sentMessageSchema,
  startRunSchema,
  stopRunSchema,
} from "../run.ts";
import { modelRequestSchema } from "../team/model-request.ts";
import { runTraceSchema } from "../team/trace.ts";
import { command } from "./command.ts";

/** Runs: started, read, streamed, stopped, paused, answered and traced. */
export const runCommands = {
  startRun: command({
    method: "post",
    path: "/v1/teams/:team/runs",
    summary: "Start a run; stream it, wait for it, or just have it accepted",
    tag: "Runs",
    scope: "runs:write",
    body: startRunSchema,
    query: (limits) =>
      z.strictObject({
        wait: integerParameter(0, limits.max_wait_seconds)
          .optional()
          .describe(
            "Seconds to wait for the end of the run. A run that waits for a human, or is paused, is answered with at once.",
          ),
      }),
    idempotent: true,
    answers: {
      200: {
        description:
          "The finished run, with ?wait=. With Accept: text/event-stream the run's stream from its first event.",
        schema: { Run: runSchema },
        frames: "StreamFrame",
        location: true,
      },
      202: {
        description: "The run is accepted.",
        schema: { Run: runSchema },
        location: true,
      },
    },
    problems: [404, 409, 429],
  }),

  runs: command({
    method: "get",
    path: "/v1/teams/:team/runs",
    id: "listRuns",
    summary: "The team's runs, newest first",
    tag: "Runs",
    scope: "runs:read",
    object: "team",
    query: (limits) =>
      z.strictObject({
        cursor: pageCursorParameter,
        limit: pageSizeParameter(limits),
        task: z
          .literal("preview", 'must be "preview"')
          .optional()
          .describe(
            `preview: the task of each run is its first ${PREVIEW_CHARACTERS} characters, as text.`,
          ),
        user: loginUserParameter,
      }),
    answers: { 200: { description: "A page.", schema: { RunPage: runPageSchema } } },
    problems: [404],
  }),

  run: command({
    method: "get",
    path: "/v1/teams/:team/runs/:run",
    id: "getRun",
    summary: "A run with its result",
    tag: "Runs",
    scope: "runs:read",
    query: () => z.strictObject({ user: loginUserParameter }),
    answers: { 200: { description: "The run.", schema: { Run: runSchema } } },
    problems: [404],
  }),

  changeRun: command({
    method: "patch",
    path: "/v1/teams/:team/runs/:run",
    summary: "Give a queued run another task",
    tag: "Runs",
    scope: "runs:write",
    body: changeRunSchema,
    answers: { 200: { description: "The run.", schema: { Run: runSchema } } },
    problems: [404, 409],
  }),

  streamTeam: command({
    method: "get",
    path: "/v1/teams/:team/events",
    summary: "Everything that happens in the team, as server-sent events; stays open",
    tag: "Runs",
    scope: "runs:read",
    query: () => streamQuery,
    resumable: true,
    problems: [404],
    answers: { 200: { description: "The stream.", frames: "StreamFrame" } },
  }),

  streamRun: command({
    method: "get",
    path: "/v1/teams/:team/runs/:run/events",
    summary: "A run as server-sent events, up to its end",
    tag: "Runs",
    scope: "runs:read",
    query: () => streamQuery,
    resumable: true,
    problems: [404],
    answers: {
      200: { description: "The stream.", frames: "StreamFrame" },
      204: { description: "The run is over and nothing is left to send." },
    },
  }),

  stopRun: command({
    method: "post",
    path: "/v1/teams/:team/runs/:run/stop",
    summary: "End the run after its turn, or cancel it now",
    tag: "Runs",
    scope: "runs:write",
    body: stopRunSchema,
    answers: {
      200: { description: "It had been asked to stop before.", schema: { Run: runSchema } },
      202: { description: "It will stop.", schema: { Run: runSchema } },
    },
    problems: [404, 409],
  }),

  steerRun: command({
    method: "post",
    path: "/v1/teams/:team/runs/:run/messages",
    summary: "Send a message into a run; its agents read it at their next step",
    tag: "Runs",
    scope: "runs:write",
    body: runMessageSchema,
    idempotent: true,
    answers: { 202: { description: "It is stored.", schema: { SentMessage: sentMessageSchema } } },
    problems: [404, 409, 429],
  }),

  pauseRun: command({
    method: "post",
    path: "/v1/teams/:team/runs/:run/pause",
    summary: "Pause a run: steps under way end, and no new ones start",
    tag: "Runs",
    scope: "runs:write",
    object: "team",
    body: nothingSchema,
    bodyOptional: true,
    answers: { 202: { description: "The run.", schema: { Run: runSchema } } },
    problems: [404, 409],
  }),

  resumeRun: command({
    method: "post",
    path: "/v1/teams/:team/runs/:run/resume",
    summary: "Continue a paused run",
    tag: "Runs",
    scope: "runs:write",
    object: "team",
    body: nothingSchema,
    bodyOptional: true,
    answers: { 202: { description: "The run.", schema: { Run: runSchema } } },
    problems: [404, 409],
  }),

  retryRun: command({
    method: "post",
    path: "/v1/teams/:team/runs/:run/retry",
    summary: "Try the team's latest run again after it failed or was cancelled",
    idempotent: true,
    tag: "Runs",
    scope: "runs:write",
    object: "team",
    body: nothingSchema,
    bodyOptional: true,
    answers: {
      202: {
        description: "The new run; the same request again gets the same one.",
        schema: { Run: runSchema },
        location: runLocation,
      },
    },
    problems: [404, 409],
  }),

  listRequests: command({
    method: "get",
    path: "/v1/teams/:team/runs/:run/requests",
    summary: "The run's open questions to humans",
    tag: "Runs",
    scope: "questions",
    query: () => z.strictObject({ user: loginUserParameter }),
    answers: {
      200: { description: "The questions.", schema: { HumanRequests: humanRequestsSchema } },
    },
    problems: [404],
  }),

  request: command({
    method: "get",
    path: "/v1/teams/:team/runs/:run/requests/:request",
    id: "getRequest",
    summary:
      "A question to humans, and how it was answered; one that the run withdrew is not there",
    tag: "Runs",
    scope: "questions",
    object: "team",
    answers: {
      200: { description: "The question.", schema: { AskedRequest: askedRequestSchema } },
    },
    problems: [404],
  }),

  answerRequest: command({
    method: "post",
    path: "/v1/teams/:team/runs/:run/requests/:request",
    summary: "Answer a question; repeating the same answer is allowed",
    tag: "Runs",
    scope: "requests:write",
    body: answerSchema,
    answers: { 200: { description: "The run.", schema: { AnsweredRun: answeredRunSchema } } },
    problems: [404, 409, 429],
  }),

  runTrace: command({
    method: "get",
    path: "/v1/teams/:team/runs/:run/trace",
    id: "getTrace",
    summary: "What a run did, as spans: turns, agents, model and tool calls, waits, recoveries",
    tag: "Runs",
    scope: "runs:read",
    object: "team",
    query: ({ max_page_size }) =>
      z.strictObject({
        cursor: pageCursorParameter,
        limit: integerParameter(1, max_page_size)
          .optional()
          .describe("Turns of a page.")
          .transform((given = max_page_size) => given),
      }),
    answers: {
      200: { description: "A page of finished turns.", schema: { RunTrace: runTraceSchema } },
    },
    problems: [404],
  }),

  modelRequest: command({
    method: "get",
    path: "/v1/teams/:team/runs/:run/steps/:step/request",
    id: "getModelRequest",
    summary:
      "What a model was asked in a step of a run (a span of the kind chat), and what it answered",
    tag: "Runs",
    scope: "teams:read",
    object: "team",
    answers: {
      200: { description: "The request.", schema: { ModelRequest: modelRequestSchema } },
    },
    problems: [404, 410],
  }),
};
