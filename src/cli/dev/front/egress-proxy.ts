import { randomBytes } from "node:crypto";
import { lookup as systemLookup } from "node:dns";
import { once } from "node:events";
import {
  Agent as HttpAgent,
  createServer,
  type IncomingMessage,
  request as httpRequest,
  type ServerResponse,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { type AddressInfo, isIP, type LookupFunction } from "node:net";
import { pipeline } from "node:stream";
import { OUTCOME_HEADER, TARGET_HEADER } from "../../../outgoing/egress-proxy.ts";
import { isLoopbackHost, isPublicHost } from "../../../outgoing/public-hosts.ts";
import { forwardedRequestHeaders, forwardedResponseHeaders } from "./forwarded-headers.ts";

type Lookup = typeof systemLookup;

/** Shorter than most servers wait before they close an idle connection. */
const IDLE_CONNECTION_MS = 4_000;
const MOST_HEADER_BYTES = 65_536;

/** A name that resolves to private addresses only. */
class PrivateAddressError extends Error {}

/**
 * Sends the outgoing requests of the Worker to hosts that nobody named in the settings. It connects only to public addresses
 * and to this machine: workerd would go wherever a name leads.
 */
export class EgressProxy {
  readonly #host: string;
  readonly #lookup: LookupFunction;
  readonly #key = randomBytes(32).toString("base64url");
  readonly #server = createServer({ maxHeaderSize: MOST_HEADER_BYTES });
  readonly #agents: { "http:": HttpAgent; "https:": HttpsAgent };

  /**
   * @param host it listens on
   * @param lookup resolves names
   */
  constructor(host: string, lookup: Lookup = systemLookup) {
    this.#host = host;
    this.#lookup = allowedAddresses(lookup);
    const options = { keepAlive: true, timeout: IDLE_CONNECTION_MS };
    this.#agents = { "http:": new HttpAgent(options), "https:": new HttpsAgent(options) };
    this.#server.on("request", (request, response) => this.#serve(request, response));
  }

  async listen(): Promise<void> {
    this.#server.listen({ host: this.#host, port: 0 });
    await once(this.#server, "listening");
  }

  /** What the Worker needs to use it: the URL with the key. */
  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://${this.#host}:${port}/${this.#key}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const target = request.headers[TARGET_HEADER];
    if (request.url !== `/${this.#key}` || typeof target !== "string" || !URL.canParse(target)) {
      response.writeHead(403).end();
      return;
    }
    try {
      this.#send(new URL(target), request, response);
    } catch (error) {
      giveUp(response, error);
    }
  }

  #send(target: URL, request: IncomingMessage, response: ServerResponse): void {
    const { protocol, hostname, port, pathname, search, host } = target;
    const literal = hostname.replace(/^\[|\]$/g, "");
    if (isIP(literal) !== 0 && !isAllowed(literal))
      throw new PrivateAddressError(refusal(hostname, literal));
    const secure = protocol === "https:";
    const outgoing = (secure ? httpsRequest : httpRequest)({
      protocol,
      hostname: literal,
      port: port || (secure ? 443 : 80),
      path: pathname + search,
      method: request.method,
      headers: forwardedRequestHeaders(request, host),
      agent: this.#agents[secure ? "https:" : "http:"],
      lookup: this.#lookup,
      maxHeaderSize: MOST_HEADER_BYTES,
      setDefaultHeaders: false,
    });
    let answered = false;
    outgoing.on("response", (answer) => {
      answered = true;
      response.writeHead(
        answer.statusCode ?? 502,
        answer.statusMessage,
        forwardedResponseHeaders(answer),
      );
      response.flushHeaders();
      pipeline(answer, response, () => undefined);
    });
    outgoing.on("error", (error) => {
      if (!answered) giveUp(response, error);
    });
    response.on("close", () => {
      if (!response.writableFinished) outgoing.destroy();
    });
    request.pipe(outgoing);
  }
}

function giveUp(response: ServerResponse, error: unknown): void {
  if (response.destroyed || response.headersSent) return;
  const outcome = error instanceof PrivateAddressError ? "denied" : "failed";
  response.writeHead(502, { [OUTCOME_HEADER]: outcome, "content-type": "text/plain" });
  response.end(error instanceof Error ? error.message || error.name : String(error));
}

/**
 * A lookup that leaves out private addresses. A connection is made to one of its results, so no second lookup can give
 * another one.
 */
function allowedAddresses(lookup: Lookup): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) {
        done(error, "");
        return;
      }
      const allowed = found.filter(({ address }) => isAllowed(address));
      const [first] = allowed;
      if (first === undefined) {
        done(new PrivateAddressError(refusal(hostname, found[0]?.address ?? "none")), "");
      } else if (options.all) done(null, allowed);
      else done(null, first.address, first.family);
    });
  };
}

function refusal(hostname: string, address: string): string {
  return `"${hostname}" resolves to the private address ${address}; to allow it, name "${hostname}" in ALLOWED_EGRESS.`;
}

function isAllowed(address: string): boolean {
  const url = `http://${isIP(address) === 6 ? `[${address}]` : address}/`;
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return isPublicHost(hostname) || isLoopbackHost(hostname);
}
