import * as z from "zod";
import type { JsonObject } from "../../core/json.ts";
import { type Endpoint, endpoint, json } from "../endpoint.ts";
import { unwrap } from "../problem.ts";
import { integerParameter, pageCursorParameter } from "../../contract/query-parameters.ts";
import { answerSchema, nothingSchema, stopRunSchema } from "../../contract/run.ts";
import type { Services } from "../services.ts";
import { parseAnswer } from "../input/task.ts";

/** What can be done to a run: stop, pause, resume, retry, answer; and what it did. */
export function runActionEndpoints({ limits }: Services): Endpoint[] {
  const tag = "Runs" as const;
  const scope = "runs:write" as const;
  const problems = [404, 409];

  return [
    endpoint({
      method: "post",
      path: "/v1/teams/:team/runs/:run/stop",
      id: "stopRun",
      summary: "End the run after its turn, or cancel it now",
      tag,
      scope,
      body: stopRunSchema,
      answers: {
        200: { description: "It had been asked to stop before.", schema: "Run" },
        202: { description: "It will stop.", schema: "Run" },
      },
      problems,
      async handle({ body, team, param }) {
        const { repeated, ...run } = unwrap(await team.stopRun(param("run"), body.mode));
        return json(run, repeated ? 200 : 202);
      },
    }),

    ...(["pause", "resume"] as const).map((action) =>
      endpoint({
        method: "post",
        path: `/v1/teams/:team/runs/:run/${action}`,
        id: `${action}Run`,
        summary: action === "pause" ? "Start nothing new once running steps have ended" : "Go on",
        tag,
        scope,
        body: nothingSchema,
        bodyOptional: true,
        answers: { 202: { description: "The run.", schema: "Run" } },
        problems,
        async handle({ team, param }) {
          const run = param("run");
          return json(
            unwrap(await (action === "pause" ? team.pauseRun(run) : team.resumeRun(run))),
            202,
          );
        },
      }),
    ),

    endpoint({
      method: "post",
      path: "/v1/teams/:team/runs/:run/retry",
      id: "retryRun",
      summary: "Try the team's latest run again after it failed or was cancelled",
      idempotent: true,
      tag,
      scope,
      body: nothingSchema,
      bodyOptional: true,
      answers: {
        202: {
          description: "The new run; the same request again gets the same one.",
          schema: "Run",
          location: true,
        },
      },
      problems,
      async handle({ team, param, idempotency }) {
        const run = unwrap(await team.retryRun(param("run"), idempotency));
        return json(run, 202, { location: `/v1/teams/${run.team_id}/runs/${run.id}` });
      },
    }),

    endpoint({
      method: "get",
      path: "/v1/teams/:team/runs/:run/requests",
      id: "listRequests",
      summary: "The run's open questions to humans",
      tag,
      scope: "runs:read",
      answers: { 200: { description: "The questions.", schema: "HumanRequests" } },
      problems: [404],
      async handle({ team, param }) {
        return json({ requests: unwrap(await team.requests(param("run"))) });
      },
    }),

    endpoint({
      method: "post",
      path: "/v1/teams/:team/runs/:run/requests/:request",
      id: "answerRequest",
      summary: "Answer a question; the same answer again is no mistake",
      tag,
      scope: "requests:write",
      body: answerSchema,
      answers: { 200: { description: "The run.", schema: "Run" } },
      problems,
      async handle({ body, team, param }) {
        const answer = parseAnswer(body as JsonObject, limits);
        return json(unwrap(await team.answer(param("run"), param("request"), answer)));
      },
    }),

    endpoint({
      method: "get",
      path: "/v1/teams/:team/runs/:run/trace",
      id: "getTrace",
      summary: "What a run did, as spans: turns, agents, model and tool calls, waits, recoveries",
      tag,
      scope: "runs:read",
      query: z.strictObject({
        cursor: pageCursorParameter,
        limit: integerParameter(1, limits.max_page_size).optional().describe("Turns of a page."),
      }),
      answers: { 200: { description: "A page of finished turns.", schema: "RunTrace" } },
      problems: [404],
      async handle({ query, team, param }) {
        const { cursor, limit = limits.max_page_size } = query;
        const page = { ...(cursor !== undefined && { cursor }), limit };
        return json(unwrap(await team.runTrace(param("run"), page)));
      },
    }),
  ];
}
