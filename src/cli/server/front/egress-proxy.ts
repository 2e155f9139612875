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
import { exactEntry, type Reach } from "../../../outgoing/egress.ts";
import { OUTCOME_HEADER, REACH_HEADER, TARGET_HEADER } from "../../../outgoing/egress-proxy.ts";
import { isLoopbackHost, isNeverAsked, isPublicHost } from "../../../outgoing/public-hosts.ts";
import { forwardedRequestHeaders, forwardedResponseHeaders } from "./forwarded-headers.ts";

type Lookup = typeof systemLookup;

/** Shorter than most servers wait before they close an idle connection. */
const IDLE_CONNECTION_MS = 4_000;
const MOST_HEADER_BYTES = 65_536;

/** A name that resolves only to addresses that are not allowed. */
class DeniedAddressError extends Error {}

const REACHES = ["public", "local", "private"] as const satisfies readonly Reach[];

/** Connections by the addresses that their requests may use, so that no other request reuses them. */
interface Connections {
  agents: { "http:": HttpAgent; "https:": HttpsAgent };
  lookup: LookupFunction;
  reach: Reach;
}

/**
 * Sends the Worker's outgoing requests to host names. It connects only to addresses that the settings allow, because
 * workerd would connect to any address that a name resolves to.
 */
export class EgressProxy {
  readonly #host: string;
  readonly #connections: ReadonlyMap<string, Connections>;
  readonly #key = randomBytes(32).toString("base64url");
  readonly #server = createServer({ maxHeaderSize: MOST_HEADER_BYTES });

  /**
   * @param host it listens on
   * @param lookup resolves names
   */
  constructor(host: string, lookup: Lookup = systemLookup) {
    this.#host = host;
    const options = { keepAlive: true, timeout: IDLE_CONNECTION_MS };
    this.#connections = new Map(
      REACHES.map((reach) => [
        reach,
        {
          agents: { "http:": new HttpAgent(options), "https:": new HttpsAgent(options) },
          lookup: allowedAddresses(lookup, reach),
          reach,
        },
      ]),
    );
    this.#server.on("request", (request, response) => this.#serve(request, response));
  }

  async listen(): Promise<void> {
    this.#server.listen({ host: this.#host, port: 0 });
    await once(this.#server, "listening");
  }

  /** The URL for the Worker, with the key. */
  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://${this.#host}:${port}/${this.#key}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
    for (const { agents } of this.#connections.values()) {
      for (const agent of Object.values(agents)) agent.destroy();
    }
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const target = request.headers[TARGET_HEADER];
    const connections = this.#connections.get(String(request.headers[REACH_HEADER]));
    if (
      request.url !== `/${this.#key}` ||
      typeof target !== "string" ||
      !URL.canParse(target) ||
      connections === undefined
    ) {
      response.writeHead(403).end();
      return;
    }
    const url = new URL(target);
    // Nothing looks up an address.
    if (isIP(socketHost(url)) !== 0 && !isAllowed(url.hostname, connections.reach)) {
      giveUp(response, url, new DeniedAddressError(url.hostname));
      return;
    }
    this.#send(url, connections, request, response);
  }

  #send(
    target: URL,
    { agents, lookup }: Connections,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    const { protocol, port, pathname, search, host } = target;
    const secure = protocol === "https:";
    const outgoing = (secure ? httpsRequest : httpRequest)({
      protocol,
      hostname: socketHost(target),
      port: port || (secure ? 443 : 80),
      path: pathname + search,
      method: request.method,
      headers: forwardedRequestHeaders(request, host),
      agent: agents[secure ? "https:" : "http:"],
      lookup,
      maxHeaderSize: MOST_HEADER_BYTES,
      setDefaultHeaders: false,
    });
    let answered = false;
    let connected = false;
    outgoing.on("socket", (socket) => {
      // A socket whose name was not found is destroyed by now, and was never connected.
      connected = outgoing.reusedSocket || !(socket.connecting || socket.destroyed);
      socket.once("connect", () => (connected = true));
    });
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
      if (!answered) giveUp(response, target, error, connected);
    });
    response.on("close", () => {
      if (!response.writableFinished) outgoing.destroy();
    });
    request.pipe(outgoing);
  }
}

/** The host of a URL as sockets take it. */
function socketHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

/** @param connected whether the target may have got a part of the request */
function giveUp(response: ServerResponse, target: URL, error: Error, connected = false): void {
  if (response.destroyed || response.headersSent) return;
  const denied = error instanceof DeniedAddressError;
  response.writeHead(502, {
    [OUTCOME_HEADER]: denied ? "denied" : connected ? "failed" : "unsent",
    "content-type": "text/plain",
  });
  response.end(denied ? refusal(target, error.message) : error.message || error.name);
}

/** @param address that the name resolves to */
function refusal(target: URL, address: string): string {
  const { hostname } = target;
  return isNeverAsked(hostOf(address))
    ? `"${hostname}" resolves to the private address ${address} (link-local or a cloud's metadata service). Troupe never sends requests to it.`
    : `"${hostname}" resolves to the private address ${address}; to allow it, name host and port in ALLOWED_EGRESS: "${exactEntry(target)}".`;
}

/**
 * A lookup without the addresses that are not allowed. Node connects to one of its results, so no second lookup can return
 * another address.
 */
function allowedAddresses(lookup: Lookup, reach: Reach): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) {
        done(error, "");
        return;
      }
      const allowed = found.filter(({ address }) => isAllowed(hostOf(address), reach));
      const [first] = allowed;
      if (first === undefined) done(new DeniedAddressError(found[0]?.address ?? "none"), "");
      else if (options.all) done(null, allowed);
      else done(null, first.address, first.family);
    });
  };
}

function isAllowed(host: string, reach: Reach): boolean {
  if (isNeverAsked(host)) return false;
  if (reach === "private") return true;
  return isPublicHost(host) || (reach === "local" && isLoopbackHost(host));
}

/** The address in the notation of URLs. */
function hostOf(address: string): string {
  // The name of an interface (`fe80::1%eth0`) is not part of a URL.
  const [plain = address] = address.split("%");
  return new URL(`http://${isIP(address) === 6 ? `[${plain}]` : plain}/`).hostname;
}
