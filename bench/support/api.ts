/**
 * Each request has a connection of its own: one that is kept may be closed by the server in the very moment in which it
 * is used again.
 */
export const FRESH = { connection: "close" };

/** Just enough of the HTTP API's client for measurements. */
export class Api {
  readonly #origin: string;

  constructor(origin: string) {
    this.#origin = origin;
  }

  async createTeam(component: object): Promise<string> {
    const { id } = await this.#json<{ id: string }>("POST", "/v1/teams", { component });
    return id;
  }

  /** Runs to the end. @returns milliseconds from the request to the answer */
  async run(team: string, task: string | null): Promise<number> {
    const started = performance.now();
    const run = await this.#json<{ status: string; error: unknown }>(
      "POST",
      `/v1/teams/${team}/runs?wait=120`,
      { task },
    );
    if (run.status !== "completed")
      throw new Error(`the run ${run.status}: ${JSON.stringify(run)}`);
    return performance.now() - started;
  }

  /** Starts a run without waiting for it. */
  async start(team: string, task: string): Promise<void> {
    await this.#json("POST", `/v1/teams/${team}/runs`, { task });
  }

  team(team: string): Promise<{ status: string }> {
    return this.#json("GET", `/v1/teams/${team}`);
  }

  /** Opens the stream of all that happens in a team. */
  async watch(team: string): Promise<ReadableStream<Uint8Array>> {
    const path = `/v1/teams/${team}/events`;
    const { body } = await this.#send("GET", path, undefined, "text/event-stream");
    if (body === null) throw new TypeError("the stream has no body");
    return body;
  }

  /** Starts a run and opens its stream. */
  stream(team: string, task: string): Promise<Response> {
    return this.#send("POST", `/v1/teams/${team}/runs`, { task }, "text/event-stream");
  }

  /** What `bench/worker/counting.ts` adds. */
  takeRows(team: string): Promise<number[]> {
    return this.#json("GET", `/rows/${team}`);
  }

  async #json<T>(method: string, path: string, body?: object): Promise<T> {
    return (await (await this.#send(method, path, body)).json()) as T;
  }

  async #send(method: string, path: string, body?: object, accept?: string): Promise<Response> {
    const response = await fetch(this.#origin + path, {
      method,
      headers: {
        ...FRESH,
        ...(body && { "content-type": "application/json" }),
        ...(accept !== undefined && { accept }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (response.ok) return response;
    throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  }
}
