import type { ServerProcess } from "./server-process.ts";

/** A server of agents under the load. */
export interface Contender extends AsyncDisposable {
  name: string;
  /** Says where the server stores runs, and which runs survive a kill. */
  durable: string;
  process: ServerProcess;
  /** Makes a conversation. @returns its id */
  create(): Promise<string>;
  /** Starts a run of it and opens the stream of its answer. */
  stream(id: string): Promise<Response>;
  delete(id: string): Promise<void>;
}

/** What each is started with. */
export interface ContenderOptions {
  /** URL of the model server, ending in `/v1`. */
  upstream: string;
  model: string;
  /** A directory for its data. */
  directory: string;
  /** The most runs at once. */
  runs: number;
}

/** @throws Error for a response that is not a success */
export async function send(
  method: string,
  url: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (response.ok) return response;
  throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`);
}

/** The text of the agents' instructions. */
export const SYSTEM = "You are a helpful assistant.";
