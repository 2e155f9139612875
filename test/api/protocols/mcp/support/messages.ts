import type { TestWorker } from "../../../../support/worker.ts";

export const VERSION = "2025-11-25";

export interface Sent {
  path?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** Sends JSON-RPC as a client of the revisions with sessions does. */
export function post(
  worker: TestWorker,
  body: unknown,
  { path = "/mcp", headers = {}, signal }: Sent = {},
): Promise<Response> {
  return worker.fetch(path, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": VERSION,
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...(signal && { signal }),
  });
}

/** Begins a session. @returns its id */
export async function initialize(
  worker: TestWorker,
  capabilities: object = {},
  sent: Sent = {},
): Promise<string> {
  const response = await post(
    worker,
    request(0, "initialize", {
      protocolVersion: VERSION,
      capabilities,
      clientInfo: { name: "test", version: "1" },
    }),
    sent,
  );
  await response.text();
  return response.headers.get("mcp-session-id") ?? "";
}

export function request(id: number, method: string, params: object = {}): object {
  return { jsonrpc: "2.0", id, method, params };
}

export interface Message {
  id?: string | number;
  method?: string;
  params?: { message?: string; progress?: number };
  result?: {
    structuredContent: { run_id: string; status: string; teams?: { id: string }[] };
    tools?: { name: string }[];
    resources?: { uri: string }[];
  };
  error?: { code: number; message: string };
}

/** The messages of a response, as they come. */
export async function* messagesOf(response: Response): AsyncGenerator<Message, void, void> {
  if (response.headers.get("content-type")?.startsWith("application/json")) {
    yield (await response.json()) as Message;
    return;
  }
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const frames = text.split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames) {
      const data = frame.split("\n").find((line) => line.startsWith("data: "));
      if (data !== undefined && data !== "data: ")
        yield JSON.parse(data.slice("data: ".length)) as Message;
    }
  }
}

/** The last message of a response: the JSON-RPC response. */
export async function lastOf(response: Response): Promise<Message> {
  let last: Message = {};
  for await (const message of messagesOf(response)) last = message;
  return last;
}

/** The first event of a stream as its text. */
export async function firstOf(response: Response): Promise<string> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const { value = "" } = await reader.read();
  await reader.cancel();
  return value;
}
