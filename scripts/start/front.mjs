import { once } from "node:events";
import { Agent, createServer, request as openRequest } from "node:http";
import { pipeline } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { FRONT_KEY_HEADER } from "#auth/local.ts";
import { forwardedRequestHeaders, forwardedResponseHeaders } from "./forwarded-headers.mjs";
import { requestProblem } from "./guard.mjs";
import { MALFORMED, refuseUnreadable, sendProblem } from "./problem-response.mjs";

/** @typedef {import("node:http").IncomingMessage} IncomingMessage */
/** @typedef {import("node:http").ServerResponse} ServerResponse */
/** @typedef {import("#contract/problem.ts").Problem} Problem */

/** A server that was killed takes a moment to release its port. */
const FREE_WITHIN_MS = 2_000;
/** workerd closes a connection after five idle seconds: one that is about to be closed must not be used again. */
const IDLE_CONNECTION_MS = 3_000;
const CLIENT_IDLE_MS = 75_000;

/**
 * @typedef {object} FrontOptions
 * @property {string} host
 * @property {number} port that clients use
 * @property {number} target the internal port of wrangler
 * @property {string} key proves to the Worker that a request came through here
 * @property {boolean} open whether only local requests are allowed (otherwise the Worker checks keys)
 */

/**
 * The HTTP server that clients speak to, in front of `wrangler dev`: that one believes headers by which any client, and with
 * them web pages of other sites, could pass for a local one.
 */
export class Front {
  #options;
  #agent = new Agent({ keepAlive: true, timeout: IDLE_CONNECTION_MS });
  #server = createServer({
    keepAliveTimeout: CLIENT_IDLE_MS,
    // The guard refuses a request without Host with a problem document.
    requireHostHeader: false,
  });

  /** @param {FrontOptions} options */
  constructor(options) {
    this.#options = options;
    this.#server.on("request", (request, response) => this.#serve(request, response));
    this.#server.on("clientError", (error, socket) => void refuseUnreadable(error, socket));
  }

  /** @throws Error when the port is not free */
  async listen() {
    const { host, port } = this.#options;
    const deadline = Date.now() + FREE_WITHIN_MS;
    for (;;) {
      try {
        this.#server.listen({ host, port, exclusive: true });
        await once(this.#server, "listening");
        return;
      } catch (error) {
        const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
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

  /** Ends all connections. */
  async close() {
    this.#server.close();
    this.#server.closeAllConnections();
    this.#agent.destroy();
    if (this.#server.listening) await once(this.#server, "close");
  }

  /**
   * @param {IncomingMessage} request
   * @param {ServerResponse} response
   */
  #serve(request, response) {
    const problem = requestProblem(request, this.#options.open);
    if (problem !== undefined) {
      void sendProblem(response, problem);
      return;
    }
    try {
      this.#forward(request, response);
    } catch {
      // Node reads a few characters in headers that it does not write.
      void sendProblem(response, MALFORMED);
    }
  }

  /**
   * @param {IncomingMessage} request
   * @param {ServerResponse} response
   */
  #forward(request, response) {
    const { host, target, key } = this.#options;
    const upstream = openRequest({
      host,
      port: target,
      method: request.method,
      path: request.url,
      headers: [...forwardedRequestHeaders(request), FRONT_KEY_HEADER, key],
      agent: this.#agent,
      setDefaultHeaders: false,
    });
    let answered = false;
    upstream.on("response", (answer) => {
      answered = true;
      const { statusCode = 502, statusMessage } = answer;
      response.writeHead(statusCode, statusMessage, forwardedResponseHeaders(answer));
      // The first event of a stream may be far away.
      response.flushHeaders();
      // Where one side breaks off, so does the other.
      pipeline(answer, response, () => undefined);
    });
    upstream.on("error", () => {
      if (!answered) void sendProblem(response, UNAVAILABLE);
    });
    response.on("close", () => {
      if (!response.writableFinished) upstream.destroy();
    });
    request.pipe(upstream);
  }
}

/** @type {Problem} */
const UNAVAILABLE = {
  status: 503,
  code: "temporarily_unavailable",
  detail: "The server is starting or restarting. Try again.",
  retry_after: 1,
};
