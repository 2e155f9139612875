import { once } from "node:events";
import {
  Agent,
  createServer,
  type IncomingMessage,
  request as openRequest,
  type ServerResponse,
} from "node:http";
import { isIP } from "node:net";
import { type Duplex, pipeline } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Problem } from "../../../contract/problem.ts";
import { FRONT_KEY_HEADER } from "../../../api/auth/local.ts";
import { type AllowedOrigins, Cors } from "../../../api/http/access/cors.ts";
import { forEventSource, wantsStream } from "../../../api/http/access/event-source.ts";
import { problemResponse } from "../../../api/http/endpoint/problem.ts";
import {
  forwardedRequestHeaders,
  forwardedResponseHeaders,
  forwardedUpgradeHeaders,
} from "./forwarded-headers.ts";
import type { AnsweredRequest } from "../process/log.ts";
import { requestProblem } from "./guard.ts";
import { MALFORMED, refuseUnreadable, sendProblem, sendResponse } from "./problem-response.ts";
import { answerTo, connectSockets, isForWebSocket } from "./web-socket.ts";

/** A server that was killed takes a moment to release its port. */
const FREE_WITHIN_MS = 2_000;
/** workerd closes a connection after five idle seconds. A connection that is about to be closed must not be reused. */
const IDLE_CONNECTION_MS = 3_000;
const CLIENT_IDLE_MS = 75_000;
const LOADED_WITHIN_MS = 30_000;
const ASKED_EVERY_MS = 200;
/** True if Node asks which upgrades a server takes; before 24.9 one takes all or none. */
const ASKS_ABOUT_UPGRADES = versionOfNode() >= 24.09;

/** The methods of requests that a full disk does not keep from being served. */
const FREES_OR_READS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "DELETE"]);

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
  /** True while requests that write are refused because of the disk. */
  refusesWrites?: () => boolean;
  /** True if the client's address is the last one of X-Forwarded-For, because all requests come from a proxy. */
  behindProxy?: boolean;
  /** The command that starts this server on another port. */
  commandForPort: (port: number) => string;
  /**
   * Milliseconds for which requests wait for a Worker that is reloading, and requests for streams also for one that starts after
   * a crash. Default 30 s.
   */
  holdMs?: number;
  /** Called for each response. */
  log: (answered: AnsweredRequest) => void;
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
    // Node before 24.9 does not ask, and serves requests for WebSockets as any other: the Worker answers 426.
    shouldUpgradeCallback: (request) => ASKS_ABOUT_UPGRADES && isForWebSocket(request),
  });

  constructor(options: FrontOptions) {
    this.#options = options;
    this.#cors = new Cors(options.origins);
    this.#server.on("request", (request, response) => void this.#serve(request, response));
    if (ASKS_ABOUT_UPGRADES) {
      this.#server.on("upgrade", (request, socket, head) => {
        void this.#connect(request, socket, head);
      });
    }
    this.#server.on("clientError", (error, socket) => void refuseUnreadable(error, socket));
  }

  /** @throws Error when the port is not free */
  async listen(): Promise<void> {
    const { host, port, commandForPort } = this.#options;
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
            `Port ${port} is taken by another program. Choose another port: ${commandForPort(another)}`,
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
    const problem = requestProblem(request, open, origins.origins) ?? this.#writeProblem(request);
    if (problem !== undefined) {
      void sendProblem(response, problem);
      return;
    }
    const heldUntil = Date.now() + holdMs;
    await this.#loaded(holdMs);
    if (response.destroyed) return;
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

  #writeProblem({ method = "GET" }: IncomingMessage): Problem | undefined {
    return !FREES_OR_READS.has(method) && this.#options.refusesWrites?.() === true
      ? DISK_FULL
      : undefined;
  }

  /** Serves a request for a WebSocket. */
  async #connect(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on("error", () => socket.destroy());
    const { open, origins, holdMs = LOADED_WITHIN_MS } = this.#options;
    const problem = requestProblem(request, open, origins.origins);
    if (problem !== undefined) {
      void sendProblem(answerTo(request, socket), problem);
      return;
    }
    await this.#loaded(holdMs);
    try {
      const headers = [...forwardedUpgradeHeaders(request), ...this.#ownHeaders(request)];
      const to = { socketPath: this.#options.socket, path: request.url, headers };
      const answer = await connectSockets(to, socket, head);
      if (answer === undefined) return;
      const response = answerTo(request, socket);
      response.writeHead(answer.statusCode ?? 502, forwardedResponseHeaders(answer));
      pipeline(answer, response, () => undefined);
    } catch {
      await this.#refuse(request, answerTo(request, socket));
    }
  }

  /** Waits for a Worker that is reloading. */
  async #loaded(holdMs: number): Promise<void> {
    if (this.#loading === undefined) return;
    await Promise.race([this.#loading.promise, sleep(holdMs, undefined, { ref: false })]);
  }

  /** The headers that only this server sets. */
  #ownHeaders(request: IncomingMessage): string[] {
    const address =
      (this.#options.behindProxy === true && forwardedFor(request)) || request.socket.remoteAddress;
    return ["cf-connecting-ip", address ?? "", FRONT_KEY_HEADER, this.#options.key];
  }

  /** Resolves to false when the Worker cannot be reached: nothing was sent to the client. */
  #forward(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const upstream = openRequest({
      socketPath: this.#options.socket,
      method: request.method,
      path: request.url,
      headers: [...forwardedRequestHeaders(request), ...this.#ownHeaders(request)],
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

  #logAnswer({ method = "GET", url = "/" }: IncomingMessage, response: ServerResponse): void {
    const began = performance.now();
    response.on("close", () => {
      const ms = Math.round(performance.now() - began);
      const status = response.headersSent ? response.statusCode : undefined;
      this.#options.log({ method, url, status, ms });
    });
  }
}

/** The address that the proxy has added; undefined without a valid one. The addresses before it are the client's own words. */
function forwardedFor({ headers }: IncomingMessage): string | undefined {
  const last = [headers["x-forwarded-for"]].flat().at(-1)?.split(",").at(-1)?.trim();
  return last !== undefined && isIP(last) !== 0 ? last : undefined;
}

function asked({ method, headers }: IncomingMessage): Parameters<typeof wantsStream>[0] {
  return { method, header: (name) => [headers[name]].flat()[0] };
}

/** Major and minor version as a number, such as 24.09. */
function versionOfNode(): number {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  return major + minor / 100;
}

const DISK_FULL: Problem = {
  status: 507,
  code: "disk_full",
  detail:
    "The disk with the state is full, so the request was not carried out. The data stored before is kept. Free some space and send the request again.",
};

const UNAVAILABLE: Problem = {
  status: 503,
  code: "temporarily_unavailable",
  detail: "The server is starting or restarting. Try again.",
  retry_after: 1,
};
