import type { Context } from "hono";
import * as z from "zod";
import type { OpenedStream } from "../../../../contract/gateways/team-gateway.ts";
import {
  type CheckedRequest,
  type Endpoint,
  endpoint,
  json,
} from "../../../http/endpoint/endpoint.ts";
import { readJson } from "../../../http/input/body.ts";
import { ProblemError, unwrap } from "../../../http/endpoint/problem.ts";
import { EVENT_STREAM } from "../../../../http/event-stream.ts";
import { streamAnswer } from "../../../http/endpoint/sse.ts";
import { A2AError } from "../wire/errors.ts";
import { type Method, versionNotSupported } from "../request/methods.ts";
import { normalJson } from "../wire/normal-json.ts";
import {
  createPushConfig,
  deletePushConfig,
  getPushConfig,
  listPushConfigs,
} from "../request/push-configs.ts";
import { sendMessage, sendStreamingMessage } from "../request/send-message.ts";
import { type A2ARequest, type A2AServices, needs } from "../request/services.ts";
import { cancelTask, getTask, listTasks, subscribeToTask } from "../request/tasks.ts";
import { isVersion, VERSION, VERSION_QUERY, versionOf } from "../wire/version.ts";
import { REST_JSON, refused, writeProblem } from "./rest-errors.ts";

/** The fields of a request outside its body. */
type Named = (call: CheckedRequest) => Record<string, unknown>;

/** The binding HTTP+JSON of 1.0, below the address of the agent. */
export function restEndpoints(services: A2AServices): Endpoint[] {
  const common = {
    tag: "A2A" as const,
    scope: "each" as const,
    reads: "message" as const,
    refusal: { media: REST_JSON, write: writeProblem },
    problems: [404],
    query: VERSION_QUERY,
  };
  const single = (
    about: Pick<Endpoint, "method" | "path" | "id" | "summary" | "query">,
    method: Method<object>,
    named: Named,
  ): Endpoint =>
    endpoint({
      ...common,
      ...about,
      path: `/a2a/teams/:team${about.path}`,
      answers: { 200: { description: "The result.", media: REST_JSON } },
      handle: (call) => answer(call, (request, params) => method(request, params), named),
    });
  const answer = async (
    call: CheckedRequest,
    method: Method<object | OpenedStream>,
    named: Named,
  ): Promise<Response> => {
    try {
      const request = requestOf(services, call);
      const result = await method(request, { ...(await bodyOf(services, call.c)), ...named(call) });
      if ("body" in result || "done" in result) return streamAnswer(result);
      return json(result, 200, { "content-type": REST_JSON });
    } catch (error) {
      return refused(error);
    }
  };
  const task: Named = ({ param }) => ({ id: param("task") });
  const configOf: Named = ({ param }) => ({ taskId: param("task"), id: param("config") });

  return [
    single(
      {
        method: "post",
        path: "/message:send",
        id: "a2aSendMessage",
        summary: "Send a message to the agent",
      },
      sendMessage,
      () => ({}),
    ),
    endpoint({
      ...common,
      method: "post",
      path: "/a2a/teams/:team/message:stream",
      id: "a2aStreamMessage",
      summary: "Send a message to the agent, and follow its task",
      answers: { 200: { description: "The task and its changes.", media: EVENT_STREAM } },
      handle: (call) => answer(call, sendStreamingMessage, () => ({})),
    }),
    single(
      {
        method: "get",
        path: "/tasks",
        id: "a2aListTasks",
        summary: "The caller's tasks",
        query: LIST_QUERY,
      },
      listTasks,
      queryOf,
    ),
    single(
      { method: "get", path: TASK, id: "a2aGetTask", summary: "A task", query: TASK_QUERY },
      getTask,
      (call) => ({
        ...queryOf(call),
        ...task(call),
      }),
    ),
    endpoint({
      ...common,
      method: "post",
      path: `/a2a/teams/:team${TASK}`,
      id: "a2aTaskAction",
      summary: "Cancel a task, or subscribe to it: its id with :cancel or :subscribe",
      answers: {
        200: { description: "The task; or the task and its changes.", media: EVENT_STREAM },
      },
      handle(call) {
        const [, id = "", action = ""] = /^(.*):(cancel|subscribe)$/.exec(call.param("task")) ?? [];
        const method = ACTIONS.get(action) ?? unknownAction;
        return answer(call, method, () => ({ id }));
      },
    }),
    single(
      {
        method: "post",
        path: CONFIGS,
        id: "a2aCreatePushConfig",
        summary: "Add a push notification config",
      },
      createPushConfig,
      ({ param }) => ({ taskId: param("task") }),
    ),
    single(
      {
        method: "get",
        path: CONFIGS,
        id: "a2aListPushConfigs",
        summary: "The push notification configs of a task",
        query: PAGE_QUERY,
      },
      listPushConfigs,
      (call) => ({ ...queryOf(call), taskId: call.param("task") }),
    ),
    single(
      {
        method: "get",
        path: CONFIG,
        id: "a2aGetPushConfig",
        summary: "A push notification config",
      },
      getPushConfig,
      configOf,
    ),
    single(
      {
        method: "delete",
        path: CONFIG,
        id: "a2aDeletePushConfig",
        summary: "Delete a push notification config",
      },
      deletePushConfig,
      configOf,
    ),
    single(
      {
        method: "get",
        path: "/extendedAgentCard",
        id: "a2aExtendedCard",
        summary: "Not available: answers with an error of the protocol",
      },
      refuseCard,
      () => ({}),
    ),
  ];
}

const TASK = "/tasks/:task{[^/]+}";
const CONFIGS = `${TASK}/pushNotificationConfigs`;
const CONFIG = `${CONFIGS}/:config{[^/]+}`;

const ACTIONS = new Map<string, Method<object | OpenedStream>>([
  ["cancel", cancelTask],
  ["subscribe", subscribeToTask],
]);

async function unknownAction(request: A2ARequest): Promise<never> {
  needs(request, "runs:read");
  const detail = "A task takes :cancel and :subscribe behind its id.";
  throw new ProblemError({ status: 404, code: "not_found", detail });
}

async function refuseCard(request: A2ARequest): Promise<never> {
  needs(request, "teams:read");
  unwrap(await request.agent.team.creation());
  throw new A2AError("UNSUPPORTED_OPERATION", "There is no extended agent card.");
}

/** @throws A2AError for another version */
function requestOf(
  services: A2AServices,
  { c, principal, team, param }: CheckedRequest,
): A2ARequest {
  const version = versionOf(c.req.raw);
  if (!isVersion(version, VERSION)) throw versionNotSupported(version);
  const { origin } = new URL(c.req.url);
  const agent = { id: param("team"), team };
  const { signal } = c.req.raw;
  return {
    services,
    principal,
    agent,
    origin,
    headers: c.req.raw.headers,
    signal,
    id: null,
    format: "a2a-rest",
  };
}

/** @throws A2AError for JSON that is not an object */
async function bodyOf({ limits }: A2AServices, c: Context): Promise<object> {
  if (c.req.method !== "POST") return {};
  const { value = {} } = await readJson(c.req.raw, limits);
  const body = normalJson(value);
  if (typeof body === "object" && body !== null && !Array.isArray(body)) return body;
  throw new A2AError("INVALID_PARAMS", "The body must be a JSON object.");
}

const text = z.string().optional();
const number = text.describe("A whole number.");

const LIST_QUERY = VERSION_QUERY.extend({
  contextId: text,
  status: text,
  pageSize: number,
  pageToken: text,
  historyLength: number,
  statusTimestampAfter: text,
  includeArtifacts: text.describe("true or false"),
});
const TASK_QUERY = VERSION_QUERY.extend({ historyLength: number });
const PAGE_QUERY = VERSION_QUERY.extend({ pageSize: number, pageToken: text });

const NUMBERS: ReadonlySet<string> = new Set(["pageSize", "historyLength"]);

/** The parameters of the query: numbers and booleans as such, where they have the form. */
function queryOf({ query }: CheckedRequest): Record<string, unknown> {
  const entries = Object.entries(query).map(([name, given]) => {
    const value = String(given);
    if (NUMBERS.has(name) && /^\d{1,9}$/.test(value)) return [name, Number(value)];
    const isBoolean = name === "includeArtifacts" && /^(true|false)$/.test(value);
    return [name, isBoolean ? value === "true" : value];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}
