import { once } from "node:events";
import {
  Agent,
  createServer,
  type IncomingMessage,
  request as openRequest,
  type ServerResponse,
} from "node:http";
import { pipeline } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Problem } from "../../../contract/problem.ts";
import { FRONT_KEY_HEADER } from "../../../api/auth/local.ts";
import { type AllowedOrigins, Cors } from "../../../api/http/access/cors.ts";
import { forEventSource, wantsStream } from "../../../api/http/access/event-source.ts";
import { problemResponse } from "../../../api/http/endpoint/problem.ts";
import { forwardedRequestHeaders, forwardedResponseHeaders } from "./forwarded-headers.ts";
import { requestProblem } from "./guard.ts";
import { MALFORMED, refuseUnreadable, sendProblem, sendResponse } from "./problem-response.ts";

/** A server that was killed takes a moment to release its port. */
const FREE_WITHIN_MS = 2_000;
/** workerd closes a connection after five idle seconds. A connection that is about to be closed must not be reused. */
const IDLE_CONNECTION_MS = 3_000;
const CLIENT_IDLE_MS = 75_000;
const LOADED_WITHIN_MS = 30_000;
const ASKED_EVERY_MS = 200;

export interface FrontOptions {
  host: string;
  /** The port that clients use. */
  port: number;
  /** The Unix socket of the Worker. */
  socket: string;
  /** Proves to the Worker that a request came through here. */
  key: string;
  /** True if only local requests are allowed; otherwise the Worker checks keys. */
  open: boolean;
  /** The pages of `ALLOWED_ORIGINS`, whose requests are allowed, too. */
  origins: AllowedOrigins;
  /** True while the disk with the state is full. The Worker only sees that a write failed. */
  diskIsFull: () => boolean;
  /**
   * Milliseconds for which requests wait for a Worker that is reloading, and requests for streams also for one that starts after
   * a crash. Default 30 s.
   */
  holdMs?: number;
  /** Called with a line for each response. */
  log: (line: string) => void;
}

/**
 * The HTTP server for clients, in front of the Worker in miniflare. Miniflare trusts headers with which any client, and so a
 * web page of another site, could pass as local.
 */
export class Front {
  readonly #options: FrontOptions;
  readonly #cors: Cors;
  /** Set while the Worker is reloading. */
  #loading: PromiseWithResolvers<void> | undefined;
  readonly #agent = new Agent({ keepAlive: true, timeout: IDLE_CONNECTION_MS });
  readonly #server = createServer({
    keepAliveTimeout: CLIENT_IDLE_MS,
    // The guard refuses a request without Host with a problem document.
    requireHostHeader: false,
  });

  constructor(options: FrontOptions) {
    this.#options = options;
    this.#cors = new Cors(options.origins);
    this.#server.on("request", (request, response) => void this.#serve(request, response));
    this.#server.on("clientError", (error, socket) => void refuseUnreadable(error, socket));
  }

  /** @throws Error when the port is not free */
  async listen(): Promise<void> {
    const { host, port } = this.#options;
    const deadline = Date.now() + FREE_WITHIN_MS;
    for (;;) {
      try {
        this.#server.listen({ host, port, exclusive: true });
        await once(this.#server, "listening");
        return;
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        if (code !== "EADDRINUSE") {
          throw new Error(`Cannot listen on ${host}:${port}: ${message}`, { cause: error });
        }
        if (Date.now() > deadline) {
          const another = port === 65_535 ? port - 1 : port + 1;
          throw new Error(
            `Port ${port} is taken by another program. Choose another port: PORT=${another} npm start`,
            { cause: error },
          );
        }
      }
      await sleep(100);
    }
  }

  /** Lets requests wait while the Worker is reloading. */
  hold(): void {
    this.#loading ??= Promise.withResolvers();
  }

  /** Lets requests through again. */
  release(): void {
    this.#loading?.resolve();
    this.#loading = undefined;
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    this.#agent.destroy();
    if (this.#server.listening) await once(this.#server, "close");
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#logAnswer(request, response);
    const { open, origins, holdMs = LOADED_WITHIN_MS } = this.#options;
    const problem = requestProblem(request, open, origins.origins);
    if (problem !== undefined) {
      void sendProblem(response, problem);
      return;
    }
    const heldUntil = Date.now() + holdMs;
    if (this.#loading !== undefined) {
      const late = sleep(holdMs, undefined, { ref: false });
      await Promise.race([this.#loading.promise, late]);
      if (response.destroyed) return;
    }
    const isHeld = wantsStream(asked(request));
    try {
      while (!(await this.#forward(request, response))) {
        if (response.destroyed) return;
        if (!isHeld || Date.now() >= heldUntil) {
          await this.#refuse(request, response);
          return;
        }
        await sleep(ASKED_EVERY_MS);
      }
    } catch {
      // Node accepts a few characters in headers that it refuses to write.
      void sendProblem(response, MALFORMED);
    }
  }

  /** Resolves to false when the Worker cannot be reached: nothing was sent to the client. */
  #forward(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const { socket, key } = this.#options;
    const upstream = openRequest({
      socketPath: socket,
      method: request.method,
      path: request.url,
      headers: [
        ...forwardedRequestHeaders(request),
        "cf-connecting-ip",
        request.socket.remoteAddress ?? "",
        FRONT_KEY_HEADER,
        key,
      ],
      agent: this.#agent,
      setDefaultHeaders: false,
    });
    const answered = Promise.withResolvers<boolean>();
    upstream.on("response", (answer) => {
      answered.resolve(true);
      const { statusCode = 502, statusMessage } = answer;
      if (statusCode === 500 && this.#options.diskIsFull()) {
        answer.resume();
        void sendProblem(response, DISK_FULL);
        return;
      }
      response.writeHead(statusCode, statusMessage, forwardedResponseHeaders(answer));
      // The first event of a stream may take long.
      response.flushHeaders();
      // When one side closes, close the other.
      pipeline(answer, response, () => undefined);
    });
    upstream.on("error", () => answered.resolve(false));
    const leave = (): void => {
      if (!response.writableFinished) upstream.destroy();
    };
    response.on("close", leave);
    // The next attempt adds its own.
    upstream.on("close", () => response.off("close", leave));
    request.pipe(upstream);
    return answered.promise;
  }

  /** The Worker cannot be reached. */
  async #refuse(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const problem = problemResponse(UNAVAILABLE);
    const stream = forEventSource(asked(request), problem);
    const answer = stream ?? problem;
    this.#cors.allow(request.headers.origin ?? null, answer, stream !== undefined);
    await sendResponse(response, answer);
  }

  #logAnswer({ method, url }: IncomingMessage, response: ServerResponse): void {
    const began = performance.now();
    response.on("close", () => {
      const ms = Math.round(performance.now() - began);
      const status = response.headersSent ? response.statusCode : "no answer";
      this.#options.log(`${method} ${url} ${status} (${ms} ms)`);
    });
  }
}

function asked({ method, headers }: IncomingMessage): Parameters<typeof wantsStream>[0] {
  return { method, header: (name) => [headers[name]].flat()[0] };
}

const DISK_FULL: Problem = {
  status: 507,
  code: "disk_full",
  detail:
    "The disk with the state (PERSIST_TO) is full, so the request was not carried out. The data stored before is kept. Free some space and send the request again.",
};

const UNAVAILABLE: Problem = {
  status: 503,
  code: "temporarily_unavailable",
  detail: "The server is starting or restarting. Try again.",
  retry_after: 1,
};
