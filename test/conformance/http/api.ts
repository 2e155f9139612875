import { type Issue, TroupeError } from "troupe";
import type { Json } from "troupe";

interface Problem {
  code: string;
  detail: string;
  errors?: Issue[];
}

/** What the service, and the harness's own routes beside it, are asked for one trace. */
export class Api {
  readonly #origin: string;

  /** @param origin with the path of the trace */
  constructor(origin: string) {
    this.#origin = origin;
  }

  /** @throws TroupeError with the code of the problem that was answered */
  async call<T = Json>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await this.open(method, path, body);
    const text = await response.text();
    return (text === "" ? null : JSON.parse(text)) as T;
  }

  /** For answers that are streams. @throws TroupeError with the code of the problem that was answered */
  async open(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const response = await fetch(this.#origin + path, {
      method,
      headers: {
        // A connection that is kept may be closed by the server in the moment in which it is used again.
        connection: "close",
        // Packing and unpacking takes longer than all else that a short answer takes.
        "accept-encoding": "identity",
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (response.ok) return response;
    const text = await response.text();
    if (response.headers.get("content-type") !== "application/problem+json") {
      throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    }
    const { code, detail, errors: issues = [] } = JSON.parse(text) as Problem;
    const places = issues.map((issue) => ` ${issue.path}: ${issue.message}`).join(";");
    throw new TroupeError(code, detail + places, { issues });
  }
}
