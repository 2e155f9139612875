import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { RunOutput } from "#api/protocols/mcp/run/output.ts";
import type { TestWorker } from "../../../../support/worker.ts";
import type { ClientOptions, Filled, Form } from "./clients.ts";
import { lastOf, post } from "./messages.ts";

export const TASKS = "io.modelcontextprotocol/tasks";
const VERSION = "2026-07-28";
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

/** What a request of the revision with tasks is answered with. */
export interface Answered {
  status: number;
  result?: Task & { _meta?: Record<string, unknown>; structuredContent?: RunOutput };
  error?: { code: number; message: string; data?: unknown };
}

export interface Task {
  resultType: string;
  taskId: string;
  status: string;
  statusMessage?: string;
  createdAt: string;
  lastUpdatedAt: string;
  ttlMs: number | null;
  pollIntervalMs: number;
  inputRequests?: Record<string, { method: string; params: Form }>;
  result?: { content: { text?: string }[]; structuredContent: RunOutput; isError?: boolean };
}

export interface SentTask {
  path?: string;
  headers?: Record<string, string>;
  /** Without it the client knows tasks, and shows forms. */
  capabilities?: object;
  signal?: AbortSignal;
}

/** Capabilities of a client that knows tasks and shows no forms. */
export const NO_FORMS = { extensions: { [TASKS]: {} } };
const FORMS = { ...NO_FORMS, elicitation: { form: {} } };

/** Sends a request of the revision with tasks. */
export async function ask(
  worker: TestWorker,
  method: string,
  { _meta: meta, ...params }: Record<string, unknown>,
  { path, headers = {}, capabilities = FORMS, signal }: SentTask = {},
): Promise<Answered> {
  const name = params.name ?? params.taskId;
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    [CAPABILITIES]: capabilities,
    ...(meta as object | undefined),
  };
  const response = await post(
    worker,
    { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } },
    {
      ...(path !== undefined && { path }),
      headers: {
        "mcp-protocol-version": VERSION,
        "mcp-method": method,
        ...(typeof name === "string" && { "mcp-name": name }),
        ...headers,
      },
      ...(signal && { signal }),
    },
  );
  return { status: response.status, ...((await lastOf(response)) as Omit<Answered, "status">) };
}

/**
 * An unmodified client of the official SDK, which knows no tasks: below it, the requests of its transport that are answered with a
 * task wait for its result, as the extension proposes.
 */
export async function connectWithTasks(
  worker: TestWorker,
  { url, headers = {}, fill }: ClientOptions & { fill: (form: Form) => Filled },
): Promise<{ client: Client; tasks: Task[] } & AsyncDisposable> {
  const tasks: Task[] = [];
  const fetchTask = async (input: string | URL, init?: RequestInit): Promise<Response> => {
    const response = await fetch(input, init);
    if (response.headers.get("content-type") !== "application/json") return response;
    const { result, ...message } = (await response.clone().json()) as { result?: Task };
    if (result?.resultType !== "task") return response;
    tasks.push(result);
    const taskId = { taskId: result.taskId };
    const filled = new Set<string>();
    for (;;) {
      const { result: task } = await ask(worker, "tasks/get", taskId, { headers });
      tasks.push(task!);
      const inputResponses: Record<string, unknown> = {};
      for (const [key, { params }] of Object.entries(task!.inputRequests ?? {})) {
        if (!filled.has(key)) inputResponses[key] = fill(params);
        filled.add(key);
      }
      if (Object.keys(inputResponses).length > 0)
        await ask(worker, "tasks/update", { ...taskId, inputResponses }, { headers });
      if (task?.result !== undefined) {
        const last = { ...message, result: { ...task.result, resultType: "complete" } };
        return Response.json(last);
      }
    }
  };
  const client = new Client(
    { name: "test", version: "1" },
    { capabilities: FORMS, versionNegotiation: { mode: "auto" } },
  );
  client.setRequestHandler("elicitation/create", ({ params }) => fill(params as Form));
  await client.connect(
    new StreamableHTTPClientTransport(url, { requestInit: { headers }, fetch: fetchTask }),
  );
  return { client, tasks, [Symbol.asyncDispose]: () => client.close() };
}
