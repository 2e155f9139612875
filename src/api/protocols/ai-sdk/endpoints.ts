import * as z from "zod";
import { integerParameter, pageCursorParameter } from "../../../contract/query-parameters.ts";
import {
  type CheckedRequest,
  type Endpoint,
  endpoint,
  json,
} from "../../http/endpoint/endpoint.ts";
import { EVENT_STREAM } from "../../../http/event-stream.ts";
import type { ProtocolServices } from "../shared/services.ts";
import type { ChatAddress } from "./branch.ts";
import { refusal } from "./encoder/refusal.ts";

const PROBLEM = "text/plain";

/** Runs of a page of the conversation. */
const RUNS = 20;

/** The UI message streams of the AI SDK: what its `DefaultChatTransport` asks for. */
export function aiSdkEndpoints(services: ProtocolServices): Endpoint[] {
  const common = { tag: "AI SDK" as const, refusal };
  const { limits } = services;
  const address = ({ c, principal, param }: CheckedRequest): ChatAddress => ({
    services,
    principal,
    team: param("team"),
    signal: c.req.raw.signal,
  });
  return [
    endpoint({
      ...common,
      method: "post",
      path: "/ai-sdk/teams/:team/chat",
      id: "aiSdkChat",
      summary: "Send a message of an AI SDK chat to a team, or answers to what it asked",
      scope: "runs:write",
      reads: "message",
      answers: {
        200: { description: "The UI message stream of the run.", media: EVENT_STREAM },
        400: { description: "The body is not JSON: a text.", media: PROBLEM },
        409: { description: "The run is not at a point where this can be done.", media: PROBLEM },
      },
      problems: [409],
      handle: async (call) => {
        const { answerChat } = await import("./chat.ts");
        return answerChat(services, address(call), call.c.req.raw);
      },
    }),

    endpoint({
      ...common,
      method: "post",
      path: "/ai-sdk/teams/:team/chat/:chat{[^/]+}/stop",
      id: "aiSdkStop",
      summary: "Cancel the run that writes the message of the moment",
      scope: "runs:write",
      answers: { 204: { description: "No run is active any more." } },
      problems: [404],
      handle: async (call) => {
        const { stop } = await import("./chat.ts");
        return stop(address(call));
      },
    }),

    endpoint({
      ...common,
      method: "get",
      path: "/ai-sdk/teams/:team/chat/:chat{[^/]+}/stream",
      id: "aiSdkResume",
      summary: "The UI message stream of the team's active run, from the message's beginning",
      scope: "runs:read",
      answers: {
        200: { description: "The UI message stream of the run.", media: EVENT_STREAM },
        204: { description: "No run is active." },
      },
      handle: async (call) => {
        const { resume } = await import("./chat.ts");
        return resume(address(call), call.c.req.raw.method === "HEAD");
      },
    }),

    endpoint({
      ...common,
      method: "get",
      path: "/ai-sdk/teams/:team/chat/:chat{[^/]+}/messages",
      id: "aiSdkMessages",
      summary: "The conversation as UI messages, oldest first: those of the latest runs",
      scope: "runs:read",
      query: z.strictObject({
        cursor: pageCursorParameter,
        limit: integerParameter(1, limits.max_page_size)
          .optional()
          .describe("Runs whose messages are read; default 20."),
      }),
      answers: {
        200: {
          description: "The messages, and the cursor of those before.",
          media: "application/json",
        },
      },
      problems: [404],
      handle: async (call) => {
        const { readHistory } = await import("./history.ts");
        const { cursor, limit = Math.min(RUNS, limits.max_page_size) } = call.query;
        const page = { ...(cursor !== undefined && { cursor }), limit };
        return json(await readHistory(address(call), page));
      },
    }),
  ];
}
