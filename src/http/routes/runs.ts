import * as z from "zod";
import { type Endpoint, endpoint, json } from "../endpoint.ts";
import { invalid, unwrap } from "../problem.ts";
import { integerParameter, pageCursorParameter } from "../../contract/query-parameters.ts";
import { startRunSchema } from "../../contract/run.ts";
import { type Services, tenantsOf } from "../services.ts";
import { acceptsEventStream, streamAnswer } from "../sse.ts";
import { parseTask, requireSize } from "../input/task.ts";
import { checkMetadata } from "../input/team-input.ts";
import { traceOf } from "../input/trace.ts";
import { requireWebhookUrl } from "../input/webhook-url.ts";
import { defaultPage } from "./teams.ts";

/** Starting runs and looking at them. */
export function runEndpoints(services: Services): Endpoint[] {
  const { limits, prices } = services;
  const tag = "Runs" as const;

  return [
    endpoint({
      method: "post",
      path: "/v1/teams/:team/runs",
      id: "startRun",
      summary: "Start a run; stream it, wait for it, or just have it accepted",
      tag,
      scope: "runs:write",
      body: startRunSchema,
      query: z.strictObject({
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
          schema: "Run",
          frames: "StreamFrame",
          location: true,
        },
        202: { description: "The run is accepted and goes on.", schema: "Run", location: true },
      },
      problems: [404, 409, 429],
      async handle({ body, query, team, param, idempotency, c }) {
        checkMetadata(body.metadata, limits);
        requireSize("tools", body.tools, limits);
        if (body.max_cost !== null) requirePrices(prices);
        if (body.webhook !== null) {
          tenantsOf(services);
          requireWebhookUrl(services, body.webhook.url, "webhook.url");
        }
        const input = {
          ...body,
          task: parseTask(body.task, limits),
          ...traceOf(c.req.raw),
          ...(idempotency && { idempotency }),
        };
        const locationOf = (run: string): string => `/v1/teams/${param("team")}/runs/${run}`;
        if (acceptsEventStream(c.req.header("accept"))) {
          const started = unwrap(await team.startStream(input));
          return streamAnswer(started, { location: locationOf(started.run) });
        }
        const { created: _, ...run } = unwrap(await team.startRun(input));
        const location = locationOf(run.id);
        if (query.wait === undefined || query.wait === 0) return json(run, 202, { location });
        const waited = unwrap(await team.waitForRun(run.id, query.wait * 1000));
        return json(waited, waited.ended_at === null ? 202 : 200, { location });
      },
    }),

    endpoint({
      method: "get",
      path: "/v1/teams/:team/runs",
      id: "listRuns",
      summary: "The team's runs, newest first",
      tag,
      scope: "runs:read",
      query: z.strictObject({
        cursor: pageCursorParameter,
        limit: integerParameter(1, limits.max_page_size).optional(),
      }),
      answers: { 200: { description: "A page.", schema: "RunPage" } },
      problems: [404],
      async handle({ query, team }) {
        const { cursor, limit = defaultPage(limits.max_page_size) } = query;
        return json(unwrap(await team.runs({ ...(cursor !== undefined && { cursor }), limit })));
      },
    }),

    endpoint({
      method: "get",
      path: "/v1/teams/:team/runs/:run",
      id: "getRun",
      summary: "A run with its result",
      tag,
      scope: "runs:read",
      answers: { 200: { description: "The run.", schema: "Run" } },
      problems: [404],
      handle: async ({ team, param }) => json(unwrap(await team.run(param("run")))),
    }),
  ];
}

/** @throws ProblemError 422 where a run's cost cannot be known */
function requirePrices({ empty }: Services["prices"]): void {
  if (!empty) return;
  throw invalid("invalid_request", "The cost of runs is not known.", [
    { path: "max_cost", message: "needs the setting MODEL_PRICES; limit max_total_tokens instead" },
  ]);
}
