import { request as send } from "node:http";
import { text } from "node:stream/consumers";
import { SCOPES } from "#contract/constants.ts";
import { sha256Hex } from "#core/hash.ts";
import { SAMPLE_COMPONENT } from "../support/sample-component.ts";
import { TestWorker } from "../support/worker.ts";
import type { Answer } from "./check.ts";
import type { Schema } from "./operations.ts";
import type { FuzzRequest } from "./requests.ts";

const KEY = "fuzz-key";
const OPERATOR = "fuzz-operator";
const TENANT = "fuzz";
/** The operator's endpoints change another tenant: limits of its own would end the fuzzing. */
const OTHER_TENANT = "other";

/** The Worker as it is deployed, in a workerd of its own, with a team, a run and a key to ask for. */
export class FuzzTarget implements AsyncDisposable {
  readonly #worker: TestWorker;
  readonly #origin: URL;
  /** What exists, by the name of a path's parameter. */
  #ids: Record<string, string> = {};

  private constructor(worker: TestWorker, origin: string) {
    this.#worker = worker;
    this.#origin = new URL(origin);
  }

  static async start(): Promise<FuzzTarget> {
    const worker = await TestWorker.start(
      {
        TROUPE_OPEN: "",
        SECRETS_KEY: btoa("k".repeat(32)),
        API_KEYS: JSON.stringify([{ hash: await sha256Hex(KEY), tenant: TENANT, scopes: SCOPES }]),
        OPERATOR_KEY_HASH: await sha256Hex(OPERATOR),
        SANDBOX_URL: "https://sandbox.example.com",
        TENANT_REQUESTS_PER_SECOND: "1000000",
        TENANT_TEAMS: "1000000",
        TENANT_ACTIVE_RUNS: "1000000",
        TENANT_RUNS_PER_MINUTE: "1000000",
      },
      // Fuzzed components ask models and sandboxes, and their runs may fail.
      {
        outgoing: ({ url }) =>
          /\/files(\?|\/|$)/.test(url)
            ? Response.json({ files: [] })
            : new Response(null, { status: 404 }),
        quietAbout: "run_failed",
      },
    );
    const target = new FuzzTarget(worker, await worker.origin);
    await target.#prepare();
    return target;
  }

  /** A JSON document of the API. */
  async json(path: string): Promise<unknown> {
    return JSON.parse((await this.#send("GET", path, this.#headers(KEY))).body) as unknown;
  }

  /** The component schemas that the server lists, as one. */
  async componentSchema(): Promise<Schema> {
    const { components } = (await this.json("/v1/components")) as {
      components: { provider: string; component_type: string; config: Schema }[];
    };
    const listed = components.map(({ provider, component_type, config }) => ({
      type: "object",
      properties: {
        provider: { const: provider },
        component_type: { const: component_type },
        config,
      },
      required: ["provider", "config"],
    }));
    // Without one that can be loaded, hardly any request would come to create a team.
    return { oneOf: [{ oneOf: listed }, { const: SAMPLE_COMPONENT }] };
  }

  async ask({ operation, ids, query, headers, body }: FuzzRequest): Promise<Answer> {
    const { method, path, operator } = operation;
    const filled = path.replaceAll(
      /\{(\w+)\}/g,
      (_, name: string) => ids[name] ?? this.#ids[name] ?? "none",
    );
    const answer = await this.#send(
      method,
      query === "" ? filled : `${filled}?${query}`,
      { ...headers, ...this.#headers(operator ? OPERATOR : KEY) },
      body,
    );
    if (method === "DELETE" && answer.status === 204) await this.#replace(path);
    return answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker[Symbol.asyncDispose]();
  }

  async #prepare(): Promise<void> {
    await this.#replace("{team}");
    await this.#replace("{key}");
  }

  /** Makes another of what a request has deleted. */
  async #replace(path: string): Promise<void> {
    if (path.endsWith("{team}")) {
      const { id: team } = await this.#make("/v1/teams", { component: SAMPLE_COMPONENT });
      const { id: run } = await this.#make(`/v1/teams/${team}/runs`, { task: "Hello." });
      this.#ids = { ...this.#ids, team, run, tenant: OTHER_TENANT };
    } else if (path.endsWith("{key}")) {
      this.#ids["key"] = (await this.#make("/v1/keys", { name: "fuzz" })).id;
    }
  }

  async #make(path: string, body: unknown): Promise<{ id: string }> {
    const headers = { ...this.#headers(KEY), "content-type": "application/json" };
    return JSON.parse((await this.#send("POST", path, headers, JSON.stringify(body))).body) as {
      id: string;
    };
  }

  #headers(key: string): Record<string, string> {
    return { authorization: `Bearer ${key}` };
  }

  /**
   * `fetch` would mend paths and headers. Each request has a connection of its own: the server may close one that is kept in the
   * very moment in which it is used again.
   */
  #send(
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: string | Uint8Array,
  ): Promise<Answer> {
    const { hostname, port } = this.#origin;
    return new Promise((resolve, reject) => {
      // Without a length Node sends the body of a DELETE as if it were the next request.
      if (body !== undefined) headers["content-length"] = String(Buffer.byteLength(body));
      const sent = send({
        agent: false,
        hostname,
        port,
        method,
        path,
        headers,
        timeout: 20_000,
      });
      sent.on("error", reject);
      sent.on("timeout", () => sent.destroy(new Error(`no answer to ${method} ${path}`)));
      sent.on("response", (response) => {
        const { statusCode: status = 0 } = response;
        const contentType = response.headers["content-type"];
        if (contentType === "text/event-stream") {
          resolve({ status, contentType, body: "" });
          sent.on("error", () => undefined).destroy();
          return;
        }
        text(response).then((got) => resolve({ status, contentType, body: got }), reject);
      });
      sent.end(body);
    });
  }
}
