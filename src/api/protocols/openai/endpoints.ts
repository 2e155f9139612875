import * as z from "zod";
import { integerParameter } from "../../../contract/query-parameters.ts";
import {
  type CheckedRequest,
  type Endpoint,
  endpoint,
  json,
} from "../../http/endpoint/endpoint.ts";
import { EVENT_STREAM } from "../../../http/event-stream.ts";
import type { ProtocolServices } from "../shared/services.ts";
import { conversationEndpoints, includeQuery, itemsQuery } from "./conversation-endpoints.ts";
import { fileEndpoints } from "./file-endpoints.ts";
import { errorResponse } from "./encoder/errors.ts";
import type { OpenAICall } from "./run/services.ts";

const BASE = "/openai/v1";
const RESPONSE = `${BASE}/responses/:response{[^/]+}`;

const responseQuery = includeQuery.extend({
  stream: z.enum(["true", "false"], 'must be "true" or "false"').optional(),
  starting_after: integerParameter(0, Number.MAX_SAFE_INTEGER)
    .optional()
    .describe("With stream: the sequence_number of the last event that the client has."),
  include_obfuscation: z.string().optional().describe("Has no effect."),
});

/** OpenAI's API: chat completions, responses and models. */
export function openAIEndpoints(services: ProtocolServices): Endpoint[] {
  const common = {
    tag: "OpenAI" as const,
    namesTeam: true as const,
    // Gateways and programs add parameters of their own: api-version, beta, a key.
    ignoresUnknownQuery: true as const,
    refusal: { media: "application/json", write: errorResponse },
  };
  const creates = {
    ...common,
    method: "post" as const,
    scope: "runs:write" as const,
    reads: "message" as const,
    idempotent: true,
    problems: [404, 405, 409, 502],
  };
  const callOf = ({ c, principal, idempotency }: CheckedRequest): OpenAICall => ({
    services,
    principal,
    signal: c.req.raw.signal,
    raw: c.req.raw,
    key: idempotency?.key,
  });

  return [
    endpoint({
      ...common,
      method: "get",
      path: `${BASE}/models`,
      id: "openAIListModels",
      summary: "Teams and templates as models",
      scope: "teams:read",
      answers: { 200: { description: "The models.", media: "application/json" } },
      problems: [400],
      async handle(call) {
        const { listModels } = await import("./run/models.ts");
        return json({ object: "list", data: await listModels(callOf(call)) });
      },
    }),

    endpoint({
      ...common,
      method: "get",
      path: `${BASE}/models/:model{[^/]+}`,
      id: "openAIGetModel",
      summary: "A team or a template as a model",
      scope: "teams:read",
      answers: { 200: { description: "The model.", media: "application/json" } },
      problems: [400, 404],
      async handle(call) {
        const { getModel } = await import("./run/models.ts");
        return json(await getModel(callOf(call), call.param("model")));
      },
    }),

    endpoint({
      ...creates,
      path: `${BASE}/chat/completions`,
      id: "openAICreateCompletion",
      summary: "Run a team: a chat completion, or its chunks as a stream",
      answers: {
        200: { description: "The completion; with stream its chunks.", media: EVENT_STREAM },
      },
      async handle(call) {
        const { createCompletion } = await import("./create.ts");
        return createCompletion(callOf(call));
      },
    }),

    endpoint({
      ...creates,
      path: `${BASE}/responses`,
      id: "openAICreateResponse",
      summary: "Run a team: a response, or its events as a stream",
      answers: {
        200: { description: "The response; with stream its events.", media: EVENT_STREAM },
      },
      async handle(call) {
        const { createResponse } = await import("./create.ts");
        return createResponse(callOf(call));
      },
    }),

    endpoint({
      ...common,
      method: "get",
      path: `${BASE}/responses`,
      id: "openAIConnectResponses",
      summary: "A WebSocket for responses",
      scope: "runs:write",
      answers: { 101: { description: "The socket.", media: "application/json" } },
      problems: [400, 426, 429],
      async handle(call) {
        const { connectResponses } = await import("./responses.ts");
        return connectResponses(callOf(call));
      },
    }),

    endpoint({
      ...common,
      method: "get",
      path: RESPONSE,
      id: "openAIGetResponse",
      summary: "A response as it is, or its events as a stream",
      scope: "runs:read",
      query: responseQuery,
      answers: {
        200: { description: "The response; with stream its events.", media: EVENT_STREAM },
      },
      problems: [400, 404],
      async handle(call) {
        const { getResponse } = await import("./responses.ts");
        const { stream, starting_after: startingAfter } = call.query;
        return getResponse(callOf(call), call.param("response"), {
          stream: stream === "true",
          startingAfter,
        });
      },
    }),

    endpoint({
      ...common,
      method: "post",
      path: `${RESPONSE}/cancel`,
      id: "openAICancelResponse",
      summary: "Cancel the run of a response",
      scope: "runs:write",
      answers: { 200: { description: "The response.", media: "application/json" } },
      problems: [400, 404],
      async handle(call) {
        const { cancelResponse } = await import("./responses.ts");
        return cancelResponse(callOf(call), call.param("response"));
      },
    }),

    endpoint({
      ...common,
      method: "delete",
      path: RESPONSE,
      id: "openAIDeleteResponse",
      summary: "Erase the team that was made for a response",
      scope: "teams:write",
      answers: { 200: { description: "It is erased.", media: "application/json" } },
      problems: [400, 404, 405],
      async handle(call) {
        const { deleteResponse } = await import("./responses.ts");
        return deleteResponse(callOf(call), call.param("response"));
      },
    }),

    endpoint({
      ...common,
      method: "get",
      path: `${RESPONSE}/input_items`,
      id: "openAIListInputItems",
      summary: "What the run of a response was given",
      scope: "runs:read",
      query: itemsQuery,
      answers: { 200: { description: "A page of messages.", media: "application/json" } },
      problems: [400, 404],
      async handle(call) {
        const { listInputItems } = await import("./responses.ts");
        return listInputItems(callOf(call), call.param("response"), call.query);
      },
    }),

    endpoint({
      ...common,
      method: "post",
      path: `${BASE}/responses/compact`,
      id: "openAICompactResponse",
      summary: "An item that stands for a conversation",
      scope: "runs:read",
      reads: "message",
      answers: { 200: { description: "The compacted conversation.", media: "application/json" } },
      problems: [400, 404],
      async handle(call) {
        const { compactResponse } = await import("./responses.ts");
        return compactResponse(callOf(call));
      },
    }),

    endpoint({
      ...common,
      method: "post",
      path: `${BASE}/responses/input_tokens`,
      id: "openAICountInputTokens",
      summary: "About how many tokens the input of a response has",
      scope: "teams:read",
      reads: "message",
      answers: { 200: { description: "The number.", media: "application/json" } },
      problems: [400, 404],
      async handle(call) {
        const { countInputTokens } = await import("./responses.ts");
        return countInputTokens(callOf(call));
      },
    }),

    ...conversationEndpoints(BASE, common, callOf),
    ...fileEndpoints(BASE, common, callOf),
  ];
}
