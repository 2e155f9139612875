import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import { approvalCommands } from "../../../contract/commands/approvals.ts";
import { runCommands } from "../../../contract/commands/runs.ts";
import { answeringOf, askerOf, userOf } from "../access/access-control.ts";
import { commandEndpoints } from "../endpoint/command-endpoints.ts";
import { type Endpoint, json } from "../endpoint/endpoint.ts";
import { invalid, unwrap } from "../endpoint/problem.ts";
import { type Services, tenantsOf } from "../endpoint/services.ts";
import { acceptsEventStream } from "../../../http/event-stream.ts";
import { cursorOf, eventStream, eventStreamHead, streamAnswer } from "../endpoint/sse.ts";
import { readAnswer, readTask, requireSize } from "../input/task.ts";
import { checkMetadata } from "../input/body.ts";
import { originOf } from "../input/call.ts";
import { requireWebhookUrl } from "../input/webhook-url.ts";

/** Runs: started, streamed, stopped and answered. */
export function runEndpoints(services: Services): Endpoint[] {
  const { limits, prices } = services;

  const approvals = commandEndpoints(approvalCommands, services, {});
  const runs = commandEndpoints(runCommands, services, {
    async startRun({ body, query, principal, team, param, idempotency, c }) {
      const asker = askerOf(principal, body.user);
      checkMetadata(body.metadata, limits);
      if (body.tools.length > 0) requireSize("tools", body.tools, limits);
      if (body.max_cost !== null) requirePrices(prices);
      if (body.webhook !== null) {
        tenantsOf(services);
        requireWebhookUrl(services, body.webhook.url, "webhook.url");
      }
      const input = {
        ...body,
        ...asker,
        task: await readTask(body.task, services, { team }),
        ...originOf(c.req.raw),
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

    async run({ team, param }) {
      return json(unwrap(await team.run(param("run"))));
    },

    async changeRun({ body, principal, team, param }) {
      if (principal.user !== undefined) {
        // The task of a run reaches the memories of the run's user.
        userOf(principal, unwrap(await team.run(param("run"))).user);
      }
      const task = await readTask(body.task, services, { team });
      return json(unwrap(await team.changeRun(param("run"), task)));
    },

    async steerRun({ body, principal, team, param, idempotency }) {
      const run = param("run");
      if (principal.user !== undefined) {
        // The message reaches the memories of the run's user.
        userOf(principal, unwrap(await team.run(run)).user);
      }
      requireSize("content", body.content, limits);
      return json(unwrap(await team.steerRun(run, body, idempotency)), 202);
    },

    async streamTeam({ query: { after }, team, c }) {
      const input = { run: null, after: cursorOf(c.req.header("last-event-id"), after) };
      if (c.req.raw.method !== "HEAD") return eventStream(team, input);
      unwrap(await team.team());
      return eventStreamHead();
    },

    async streamRun({ query: { after }, team, param, c }) {
      const run = param("run");
      const input = { run, after: cursorOf(c.req.header("last-event-id"), after) };
      if (c.req.raw.method !== "HEAD") return eventStream(team, input);
      unwrap(await team.run(run));
      return eventStreamHead();
    },

    async stopRun({ body, team, param }) {
      const { repeated, ...run } = unwrap(await team.stopRun(param("run"), body.mode));
      return json(run, repeated ? 200 : 202);
    },

    async listRequests({ team, param }) {
      return json({ requests: unwrap(await team.requests(param("run"))) });
    },

    async answerRequest({ body, exactBody, team, principal, param }) {
      const answer = await readAnswer(body as JsonObject, services, { team });
      const given = withExactArguments(answer, exactBody());
      const answering = answeringOf(principal);
      return json(unwrap(await team.answer(param("run"), param("request"), given, answering)));
    },
  });
  return [...runs, ...approvals];
}

/** An answer whose arguments are JSON text, which keeps all numbers on their way to the object. */
function withExactArguments(answer: JsonObject, exact: Json): JsonObject {
  if (answer["arguments"] === undefined || !isJsonObject(exact)) return answer;
  return { ...answer, arguments: JSON.stringify(exact["arguments"]) };
}

/** @throws ProblemError 422 where a run's cost cannot be known */
function requirePrices({ empty }: Services["prices"]): void {
  if (!empty) return;
  throw invalid("invalid_request", "The cost of runs is not known.", [
    { path: "max_cost", message: "needs the setting MODEL_PRICES; limit max_total_tokens instead" },
  ]);
}
