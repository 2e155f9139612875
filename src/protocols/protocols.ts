import type { StreamEncoder, StreamFormat, StreamFormats } from "../contract/stream-format.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { a2aEndpoints } from "./a2a/endpoints.ts";
import { agUiEndpoints } from "./ag-ui/endpoints.ts";
import { aiSdkEndpoints } from "./ai-sdk/endpoints.ts";
import { mcpEndpoints } from "./mcp/endpoints.ts";
import { openAIEndpoints } from "./openai/endpoints.ts";
import type { ProtocolServices } from "./services.ts";

/** The addresses of other protocols, and the formats of their streams. Each is loaded when it is first used. */
export interface Protocols {
  endpoints: Endpoint[];
  formats: StreamFormats;
}

export function shippedProtocols(services: ProtocolServices): Protocols {
  return {
    endpoints: [
      ...a2aEndpoints(services),
      ...agUiEndpoints(services),
      ...aiSdkEndpoints(services),
      ...mcpEndpoints(services),
      ...openAIEndpoints(services),
    ],
    formats: {
      a2a: async () => (await import("./a2a/encoder.ts")).makeA2AEncoder,
      "ag-ui": async () => (await import("./ag-ui/encoder.ts")).makeAgUiEncoder,
      "ai-sdk": async () => (await import("./ai-sdk/encoder.ts")).makeChatEncoder,
      "openai-chat": async () => (await import("./openai/encoder/chat-encoder.ts")).makeChatEncoder,
      "openai-response": async () =>
        (await import("./openai/encoder/response-encoder.ts")).makeResponseEncoder,
    },
  };
}

/** Makes encoders of these formats. */
export function encoderOf(
  formats: StreamFormats,
): (format: StreamFormat) => Promise<StreamEncoder> {
  return async ({ name, options }) => {
    const load = Object.hasOwn(formats, name) ? formats[name] : undefined;
    if (load === undefined) throw new TypeError(`there is no stream format ${name}`);
    return (await load())(options);
  };
}
