import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

interface EmbeddingRequest {
  model: string;
  input: string[];
  dimensions?: number;
}

/** What the server does instead of answering well. */
export interface Misbehaviour {
  status?: number;
  /** The whole body. */
  body?: string;
  /** Changes a good answer. */
  change?: (answer: { data: { index: number; embedding: unknown }[]; usage?: unknown }) => void;
  /** Answers once it resolves. */
  after?: Promise<void>;
  /** Never answers. */
  hangs?: boolean;
  /** Answers no request from this one on, counted from 1. */
  hangsFrom?: number;
}

/** A server with OpenAI's `POST /embeddings`, which refuses what OpenAI refuses. */
export async function startEmbeddingServer(dimensions = 8) {
  const requests: EmbeddingRequest[] = [];
  const headers: NodeJS.Dict<string | string[]>[] = [];
  let next: Misbehaviour | undefined;
  const server = createServer((request, response) => {
    const answered = async () => {
      const body = (await json(request)) as EmbeddingRequest;
      requests.push(body);
      headers.push(request.headers);
      if (next?.hangs || requests.length >= (next?.hangsFrom ?? Infinity)) return;
      const refusal = refusalOf(request.url, body);
      const how = next;
      await how?.after;
      if (how?.status !== undefined || refusal !== undefined) {
        const message = refusal ?? "The server is overloaded.";
        response.writeHead(refusal === undefined ? (how?.status ?? 500) : 400, JSON_TYPE);
        response.end(JSON.stringify({ error: { message, type: "invalid_request_error" } }));
        return;
      }
      const answer = {
        object: "list",
        model: body.model,
        // Not in their order, which `index` gives.
        data: body.input
          .map((text, index) => ({
            object: "embedding",
            index,
            embedding: vectorOf(text, body.dimensions ?? dimensions),
          }))
          .toReversed(),
        usage: { prompt_tokens: tokens(body.input), total_tokens: tokens(body.input) },
      };
      how?.change?.(answer);
      response.writeHead(200, JSON_TYPE);
      response.end(how?.body ?? JSON.stringify(answer));
    };
    answered().catch((error: unknown) => response.destroy(error as Error));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    headers,
    misbehave(how: Misbehaviour | undefined) {
      next = how;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const JSON_TYPE = { "content-type": "application/json" };

function refusalOf(url: string | undefined, { input }: EmbeddingRequest): string | undefined {
  if (url !== "/v1/embeddings") return `Invalid URL (POST ${url})`;
  if (input.length === 0 || input.includes("")) return "'$.input' is invalid.";
  if (input.length > 2048) return "'$.input' is invalid: at most 2048 inputs.";
  if (tokens(input) > 300_000) return "Requested too many tokens: max 300000 tokens per request";
  return undefined;
}

function tokens(input: readonly string[]): number {
  return input.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0);
}

/** Texts that share letters have similar vectors. */
export function vectorOf(text: string, dimensions: number): number[] {
  const vector = Array.from({ length: dimensions }, () => 0.01);
  for (const letter of text.toLowerCase()) {
    const place = letter.charCodeAt(0) % dimensions;
    vector[place] = (vector[place] ?? 0) + 1;
  }
  return vector;
}
