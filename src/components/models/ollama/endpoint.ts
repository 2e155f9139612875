import type { Secrets } from "../../../outgoing/dependencies.ts";
import { requestHeaders } from "../http/read-stream.ts";
import type { Endpoint } from "../http/send.ts";
import { chatAnswerSchema, errorOf } from "./wire.ts";

/** The endpoint of an Ollama server. */
export interface Connection {
  /** Includes the path. */
  url: string;
  headers: Record<string, string>;
  fetch: typeof fetch;
  secrets: Secrets;
}

export function ollamaEndpoint({ url, headers, fetch, secrets }: Connection): Endpoint {
  return {
    post: (body, signal, step) =>
      fetch(url, {
        method: "POST",
        headers: {
          ...headers,
          "content-type": "application/json",
          ...requestHeaders(step),
        },
        body,
        // A redirect could lead elsewhere with the headers' secrets.
        redirect: "manual",
        signal,
      }),
    readError(text, status) {
      const said = messageOf(text);
      const hint =
        status === 404 && /model .*not found/.test(said)
          ? `. Get it with "ollama pull" on the server, or choose one that "ollama list" shows.`
          : "";
      return { message: said + hint };
    },
    redact: (text) => secrets.redact(text),
  };
}

function messageOf(text: string): string {
  try {
    const parsed = chatAnswerSchema.safeParse(JSON.parse(text));
    return (parsed.success && errorOf(parsed.data)) || text;
  } catch {
    return text;
  }
}
