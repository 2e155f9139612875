import type { TestWorker } from "../../../../support/worker.ts";

/** A response of JSON-RPC. */
export interface RpcAnswer {
  status: number;
  headers: Headers;
  body: {
    jsonrpc: string;
    id: unknown;
    result?: Record<string, unknown>;
    error?: { code: number; message: string; data?: { reason: string; domain: string }[] };
  };
}

/** Sends a body as it is, without the official client. */
export async function post(
  worker: TestWorker,
  team: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<RpcAnswer> {
  const response = await worker.fetch(`/a2a/teams/${team}`, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const { status } = response;
  return { status, headers: response.headers, body: (await response.json()) as RpcAnswer["body"] };
}

export function request(method: string, params: object = {}, id: unknown = 1): object {
  return { jsonrpc: "2.0", id, method, params };
}

/** What `SendMessage` takes. */
export function sent(text: string, about: object = {}): { message: object } {
  return {
    message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }], ...about },
  };
}
