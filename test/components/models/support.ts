import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type {
  AssistantMessage,
  CreateResult,
  LLMMessage,
  SystemMessage,
  UserMessage,
  WorkersAIBinding,
} from "troupe";
import type { OpenAIChatCompletionClientOptions } from "troupe";
import { OpenAIChatCompletionClient } from "troupe";
import type { FakeOpenAI } from "../../support/fake-openai/server.ts";

export const system = (content: string): SystemMessage => ({ type: "SystemMessage", content });

export const user = (content: UserMessage["content"], source = "user"): UserMessage => ({
  type: "UserMessage",
  source,
  content,
});

export const assistant = (
  content: AssistantMessage["content"],
  thought: string | null = null,
): AssistantMessage => ({ type: "AssistantMessage", source: "helper", content, thought });

export const toolResult = (call_id: string, content: string): LLMMessage => ({
  type: "FunctionExecutionResultMessage",
  content: [{ call_id, content, name: "add", is_error: false }],
});

export function clientOf(
  fake: Pick<FakeOpenAI, "url">,
  config: Partial<OpenAIChatCompletionClientOptions> = {},
): OpenAIChatCompletionClient {
  return new OpenAIChatCompletionClient({
    model: "gpt-4o",
    apiKey: "test-key",
    baseURL: fake.url,
    ...config,
  });
}

/** The body of the last request. */
export function lastBody(fake: FakeOpenAI): { messages: unknown[]; [key: string]: unknown } {
  return fake.requests.at(-1)?.body as { messages: unknown[] };
}

/** All pieces of a stream and its result. */
export async function collect(
  stream: AsyncGenerator<string, CreateResult, void>,
): Promise<{ pieces: string[]; result: CreateResult }> {
  const pieces: string[] = [];
  for (;;) {
    const next = await stream.next();
    if (next.done) return { pieces, result: next.value };
    pieces.push(next.value);
  }
}

/** A model that is none of those known by name. */
export const customInfo = {
  vision: false,
  functionCalling: true,
  jsonOutput: false,
  structuredOutput: false,
  family: "unknown",
};

/** A server that answers as no good one would. `left` settles when the first connection to it is closed. */
export async function serveOnce(answer: (response: ServerResponse) => void) {
  const server = createServer((request, response) => {
    request.resume();
    answer(response);
  });
  const left = new Promise<void>((resolve) => {
    server.once("connection", (socket) => socket.once("close", () => resolve()));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    left,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The `AI` binding as the runtime has it, with the service at `origin`. */
export function aiBinding(origin: string): WorkersAIBinding {
  return {
    run: (model, inputs, { signal, ...options }) =>
      fetch(`${origin}/run?version=3`, {
        method: "POST",
        headers: { "content-type": "application/json", "cf-consn-model-id": model },
        body: JSON.stringify({ inputs, options }),
        redirect: "manual",
        signal,
      }),
  };
}
