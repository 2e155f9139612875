import type { FormatCode, StreamFormats } from "../contract/stream/stream-format.ts";
import type { RouteModule } from "../http/operations.ts";
import type { ProtocolServices } from "./services.ts";

/** The addresses of other protocols, and the formats of their streams. Each is loaded when it is first used. */
export interface Protocols {
  modules: RouteModule[];
  formats: StreamFormats;
}

const A2A_TEAM = "/a2a/teams/:team";
const A2A_TASK = `${A2A_TEAM}/tasks/:task{[^/]+}`;
const A2A_CONFIGS = `${A2A_TASK}/pushNotificationConfigs`;
const AI_SDK = "/ai-sdk/teams/:team/chat";
const OPENAI = "/openai/v1";
const RESPONSE = `${OPENAI}/responses/:response{[^/]+}`;

export function shippedProtocols(services: ProtocolServices): Protocols {
  const { a2a } = services;
  return {
    modules: [
      {
        operations: [
          `POST ${A2A_TEAM}`,
          `GET ${A2A_TEAM}/.well-known/agent-card.json`,
          ...(a2a.team ? ["GET /.well-known/agent-card.json"] : []),
          ...(a2a.cardKey ? ["GET /a2a/jwks.json"] : []),
        ],
        load: async () => (await import("./a2a/endpoints.ts")).a2aEndpoints(services),
      },
      {
        operations: [
          `POST ${A2A_TEAM}/message:send`,
          `POST ${A2A_TEAM}/message:stream`,
          `GET ${A2A_TEAM}/tasks`,
          `GET ${A2A_TASK}`,
          `POST ${A2A_TASK}`,
          `POST ${A2A_CONFIGS}`,
          `GET ${A2A_CONFIGS}`,
          `GET ${A2A_CONFIGS}/:config{[^/]+}`,
          `DELETE ${A2A_CONFIGS}/:config{[^/]+}`,
          `GET ${A2A_TEAM}/extendedAgentCard`,
        ],
        load: async () => (await import("./a2a/rest/endpoints.ts")).restEndpoints(services),
      },
      {
        operations: ["POST /ag-ui/teams/:team"],
        load: async () => (await import("./ag-ui/endpoints.ts")).agUiEndpoints(services),
      },
      {
        operations: [
          `POST ${AI_SDK}`,
          `GET ${AI_SDK}/:chat{[^/]+}/stream`,
          `GET ${AI_SDK}/:chat{[^/]+}/messages`,
        ],
        load: async () => (await import("./ai-sdk/endpoints.ts")).aiSdkEndpoints(services),
      },
      {
        operations: ["POST /mcp", "POST /mcp/teams/:team"],
        load: async () => (await import("./mcp/endpoints.ts")).mcpEndpoints(services),
      },
      {
        operations: [
          `GET ${OPENAI}/models`,
          `GET ${OPENAI}/models/:model{[^/]+}`,
          `POST ${OPENAI}/chat/completions`,
          `POST ${OPENAI}/responses`,
          `GET ${RESPONSE}`,
          `POST ${RESPONSE}/cancel`,
          `DELETE ${RESPONSE}`,
          `GET ${RESPONSE}/input_items`,
          `POST ${OPENAI}/responses/input_tokens`,
        ],
        load: async () => (await import("./openai/endpoints.ts")).openAIEndpoints(services),
        others: {
          below: OPENAI,
          write: async () => (await import("./openai/errors.ts")).errorResponse,
        },
      },
    ],
    formats: {
      a2a: async () => (await import("./a2a/formats.ts")).a2aFormats.a2a,
      "a2a-rest": async () => (await import("./a2a/formats.ts")).a2aFormats["a2a-rest"],
      "a2a-0.3": async () => (await import("./a2a/formats.ts")).a2aFormats["a2a-0.3"],
      "ag-ui": async () => ({
        makeEncoder: (await import("./ag-ui/encoder/encoder.ts")).makeAgUiEncoder,
      }),
      "ai-sdk": async () => ({
        makeEncoder: (await import("./ai-sdk/encoder/encoder.ts")).makeChatEncoder,
      }),
      "openai-chat": async () => (await import("./openai/encoder/chat-encoder.ts")).chatFormat,
      "openai-response": async () =>
        (await import("./openai/encoder/response-encoder.ts")).responseFormat,
    },
  };
}

/** Loads formats by their names. @throws TypeError for one that does not exist */
export function formatLoader(formats: StreamFormats): (name: string) => Promise<FormatCode> {
  return async (name) => {
    const load = Object.hasOwn(formats, name) ? formats[name] : undefined;
    if (load === undefined) throw new TypeError(`there is no stream format ${name}`);
    return load();
  };
}
