import { errorMessage } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import { type ResponseEvent, sendError, sendResponse, socketError } from "./response-lane.ts";
import { attachmentOf, type SocketCaller, type SocketOfCaller, tokenOf } from "./socket-caller.ts";
import {
  type BegunResponse,
  EndedTeams,
  isOpen,
  NONE_UNSTORED,
  teamIn,
  type UnstoredIds,
  withBegun,
  withFailed,
} from "./unstored-responses.ts";

/** The tag of the sockets, which tells them from others of the object. */
const TAG = "responses";
/** A socket is closed after an hour, as OpenAI's are. */
const LIFE_MS = 3_600_000;
/** The responses of a lane that may wait for the one before, and the lanes of a socket. */
const MOST_WAITING = 20;
const MOST_LANES = 8;
const LANE = /^[\x21-\x7e]{1,64}$/;
/** Closes a socket whose credential has ended: policy violation. */
const ENDED_CODE = 1008;
const NORMAL_CODE = 1000;
const FAILURES: ReadonlySet<string> = new Set(["error", "response.failed"]);
/** The events after which a response has no others. */
const ENDS: ReadonlySet<string> = new Set([
  ...FAILURES,
  "response.completed",
  "response.incomplete",
]);

/** The tokens of a team that have ended: one, or those made until a time in epoch milliseconds. */
type EndedTokens = { id: string } | { made_until: number };

export interface ResponseSocketsHost {
  ctx: DurableObjectState;
  /** True for a created key that is valid. */
  hasKey: (id: string) => boolean;
  /** Answers a request for a response in the name of a caller. */
  respond: (caller: JsonObject, request: Request) => Promise<Response>;
}

/**
 * The sockets over which clients of OpenAI's Responses API send requests and get their events. They hibernate between two responses.
 * The responses of a lane, which events name by `stream_id`, are made one after the other.
 */
export class ResponseSockets {
  readonly #host: ResponseSocketsHost;
  /** By the socket: its lanes with responses, how many there are, and what ends when the client leaves. */
  readonly #active = new Map<WebSocket, { lanes: Map<string, Lane>; left: AbortController }>();
  readonly #ended = new EndedTeams();

  constructor(host: ResponseSocketsHost) {
    this.#host = host;
  }

  get count(): number {
    return this.#host.ctx.getWebSockets(TAG).length;
  }

  /** When the next socket ends, in epoch milliseconds. */
  get nextEnd(): number | null {
    const ends = this.#all().map(({ until }) => until);
    return ends.length === 0 ? null : Math.min(...ends);
  }

  open({ caller, origin }: SocketCaller, now: number): Response {
    const { 0: end, 1: socket } = new WebSocketPair();
    const expiry =
      typeof caller["expires_at"] === "string" ? Date.parse(caller["expires_at"]) : null;
    const until = Math.min(now + LIFE_MS, expiry ?? Infinity);
    const token = tokenOf(caller);
    const attachment: SocketOfCaller = {
      caller,
      key: typeof caller["key"] === "string" ? caller["key"] : null,
      ...(token && { token }),
      origin,
      until,
      expires: until === expiry,
    };
    this.#host.ctx.acceptWebSocket(socket, [TAG]);
    socket.serializeAttachment(attachment);
    return new Response(null, { status: 101, webSocket: end });
  }

  /** True for a socket of this kind. */
  has(socket: WebSocket): boolean {
    return this.#host.ctx.getTags(socket).includes(TAG);
  }

  /** Handles an event of a client. Resolves when its response has been sent. */
  async message(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    const { key, until, expires } = attachmentOf(socket);
    if ((expires && Date.now() >= until) || (key !== null && !this.#host.hasKey(key))) {
      this.#close(socket, ENDED_CODE, "The credential has ended.");
      return;
    }
    const event = eventIn(message);
    const { type, stream_id: lane, stream: _, ...body } = event ?? {};
    if (event === undefined || type !== "response.create") {
      const text = 'An event must be a JSON object of the type "response.create".';
      sendError(socket, undefined, socketError(400, "invalid_event", text, "type"));
      return;
    }
    if (lane !== undefined && (typeof lane !== "string" || !LANE.test(lane))) {
      const text = "stream_id must be 1 to 64 visible ASCII characters.";
      sendError(socket, undefined, socketError(400, "invalid_stream_id", text, "stream_id"));
      return;
    }
    const unsupported = unsupportedIn(body);
    if (unsupported !== undefined) {
      const text = `${unsupported} is not supported over a WebSocket.`;
      sendError(socket, lane, socketError(400, "unsupported_parameter", text, unsupported));
      return;
    }
    delete body["generate"];
    delete body["background"];
    await this.#queue(socket, lane, body);
  }

  /** The client has left. The runs of its responses continue, and ended ones that are not stored are erased. */
  closed(socket: WebSocket): void {
    const running = this.#running(socket);
    this.#active.get(socket)?.left.abort();
    this.#active.delete(socket);
    if (!this.has(socket)) return;
    const attachment = attachmentOf(socket);
    const { unstored, ...others } = attachment;
    if (unstored === undefined) return;
    socket.serializeAttachment(others);
    // A team with a run ends by itself: the run may be of a response that is stored.
    const idle = unstored.open.filter((id) => !running.has(teamIn(id) ?? ""));
    this.#forget(attachment, idle);
  }

  /** Closes the sockets of keys that have ended. */
  end(hasEnded: (key: string) => boolean): void {
    for (const { socket, key } of this.#all())
      if (key !== null && hasEnded(key))
        this.#close(socket, ENDED_CODE, "The credential has ended.");
  }

  /** Closes the sockets of a team's tokens. @param ended left out: all of them have ended */
  endTokens(team: string, ended: EndedTokens = { made_until: Infinity }): void {
    for (const { socket, token } of this.#all()) {
      if (token?.team !== team) continue;
      const hasEnded = "id" in ended ? token.id === ended.id : token.made_at <= ended.made_until;
      if (hasEnded) this.#close(socket, ENDED_CODE, "The credential has ended.");
    }
  }

  /** Closes all sockets. */
  endAll(): void {
    for (const { socket } of this.#all())
      this.#close(socket, ENDED_CODE, "The credential has ended.");
  }

  /** Closes the sockets whose time has come. */
  endDue(now: number): void {
    for (const { socket, until, expires } of this.#all()) {
      if (until > now) continue;
      if (expires) this.#close(socket, ENDED_CODE, "The credential has ended.");
      else {
        const text = "The connection has been open for 60 minutes. Open another one to continue.";
        const code = "websocket_connection_limit_reached";
        sendError(socket, undefined, socketError(400, code, text));
        this.#close(socket, NORMAL_CODE, "60 minutes are over.");
      }
    }
  }

  async #queue(socket: WebSocket, lane: string | undefined, body: JsonObject): Promise<void> {
    const active = this.#active.get(socket) ?? { lanes: new Map(), left: new AbortController() };
    this.#active.set(socket, active);
    const name = lane ?? "";
    const queue = active.lanes.get(name) ?? { waiting: 0, last: Promise.resolve(), teams: [] };
    if (queue.waiting >= MOST_WAITING || (queue.waiting === 0 && active.lanes.size >= MOST_LANES)) {
      const text = `A connection has at most ${MOST_LANES} streams, each with ${MOST_WAITING} responses that are not completed.`;
      sendError(socket, lane, socketError(429, "too_many_responses", text));
      return;
    }
    active.lanes.set(name, queue);
    queue.waiting++;
    const made = queue.last.then(() =>
      this.#respond(socket, lane, { body, left: active.left.signal, queue }),
    );
    queue.last = made;
    await made;
    if (--queue.waiting === 0) active.lanes.delete(name);
  }

  /** Never rejects. */
  async #respond(
    socket: WebSocket,
    lane: string | undefined,
    { body, left, queue }: { body: JsonObject; left: AbortSignal; queue: Lane },
  ): Promise<void> {
    if (left.aborted) return;
    const { caller, origin, unstored = NONE_UNSTORED } = attachmentOf(socket);
    const { previous_response_id: given } = body;
    const previous = typeof given === "string" ? given : undefined;
    if (previous !== undefined && this.#isElsewhere(socket, unstored, previous)) {
      const text = `The response ${previous} is not stored, and this connection cannot continue it.`;
      const code = "previous_response_not_found";
      sendError(socket, lane, socketError(404, code, text, "previous_response_id"));
      return;
    }
    const continued = previous !== undefined && isOpen(unstored, previous) ? previous : undefined;
    const failed = (): void => {
      if (continued === undefined) return;
      this.#change(socket, (ids) => ({ ids: withFailed(ids, continued), dropped: [] }));
    };
    queue.teams = teamsIn(previous);
    try {
      const request = new Request(`${origin}/openai/v1/responses`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...body, stream: true }),
        signal: left,
      });
      const response = await this.#host.respond(caller, request);
      await sendResponse(socket, lane, response, (event) => {
        const begun = begunIn(event, body);
        if (begun !== undefined) {
          queue.teams = [...queue.teams, ...teamsIn(begun.id)];
          this.#change(socket, (ids) => withBegun(ids, begun, this.#running(socket)));
        }
        if (FAILURES.has(event.type)) failed();
        // Before the client has the event: it may leave then.
        if (ENDS.has(event.type)) queue.teams = [];
      });
      if (response.status === 401) this.#close(socket, ENDED_CODE, "The credential has ended.");
    } catch (error) {
      if (left.aborted) return;
      failed();
      const text = `The stream of the response broke off: ${errorMessage(error)}. Its run continues.`;
      const broken = socketError(503, "stream_interrupted", text);
      sendError(socket, lane, { ...broken, error: { ...broken.error, type: "server_error" } });
    } finally {
      queue.teams = [];
    }
  }

  /** True for a response that is not stored and belongs to another connection, or whose continuation has failed. */
  #isElsewhere(socket: WebSocket, own: UnstoredIds, id: string): boolean {
    if (own.failed.includes(id)) return true;
    if (isOpen(own, id)) return false;
    if (teamsIn(id).some((team) => this.#ended.has(team))) return true;
    return this.#all().some(
      (one) => one.socket !== socket && one.unstored !== undefined && isOpen(one.unstored, id),
    );
  }

  /** The teams with a response of the socket that is being made. */
  #running(socket: WebSocket): ReadonlySet<string> {
    const lanes = this.#active.get(socket)?.lanes.values() ?? [];
    return new Set([...lanes].flatMap(({ teams }) => teams));
  }

  /** Changes which responses of the socket can be continued. A socket that was closed meanwhile has none. */
  #change(
    socket: WebSocket,
    change: (ids: UnstoredIds) => { ids: UnstoredIds; dropped: readonly string[] },
  ): void {
    if (socket.readyState !== WebSocket.OPEN) return;
    const attachment = attachmentOf(socket);
    const { ids, dropped } = change(attachment.unstored ?? NONE_UNSTORED);
    socket.serializeAttachment({ ...attachment, unstored: ids });
    this.#forget(attachment, dropped);
  }

  /** Ends the teams of responses, and erases them. */
  #forget(attachment: SocketOfCaller, ids: readonly string[]): void {
    for (const team of ids.flatMap(teamsIn)) this.#ended.add(team);
    this.#host.ctx.waitUntil(Promise.all(ids.map((id) => this.#erase(attachment, id))));
  }

  /** Erases a response with its team, as its client could. */
  async #erase({ caller, origin }: SocketOfCaller, id: string): Promise<void> {
    const url = `${origin}/openai/v1/responses/${encodeURIComponent(id)}`;
    // It is erased by itself a minute after its end.
    await this.#host.respond(caller, new Request(url, { method: "DELETE" })).catch(() => undefined);
  }

  #close(socket: WebSocket, code: number, reason: string): void {
    this.closed(socket);
    socket.close(code, reason);
  }

  #all(): (SocketOfCaller & { socket: WebSocket })[] {
    return this.#host.ctx.getWebSockets(TAG).map((socket) => ({ ...attachmentOf(socket), socket }));
  }
}

interface Lane {
  waiting: number;
  last: Promise<void>;
  /** The teams that the response which is being made continues, or runs in. */
  teams: readonly string[];
}

/** The team of a response, if it names one. */
function teamsIn(id: string | undefined): readonly string[] {
  const team = id === undefined ? undefined : teamIn(id);
  return team === undefined ? [] : [team];
}

/** The response that begins with an event; undefined for other events. */
function begunIn({ type, response }: ResponseEvent, body: JsonObject): BegunResponse | undefined {
  if (type !== "response.created" || response === undefined) return undefined;
  const { id, previous_response_id: previous = null } = response;
  const joins = body["conversation"] !== undefined && body["conversation"] !== null;
  return { id, previous, unstored: isUnstored(body), joins };
}

/** The event of a client; undefined for a message that is not a JSON object. */
function eventIn(message: string | ArrayBuffer): JsonObject | undefined {
  if (typeof message !== "string") return undefined;
  try {
    const event: unknown = JSON.parse(message);
    return isJsonObject(event) ? event : undefined;
  } catch {
    return undefined;
  }
}

/** True for a request whose response is not stored: the team of a template need not be kept. */
function isUnstored({ store, model }: JsonObject): boolean {
  return store === false && typeof model === "string" && model.startsWith("template:");
}

/** A parameter that asks for what a socket does not do. */
function unsupportedIn({ background, generate }: JsonObject): string | undefined {
  if (background !== undefined && background !== null && background !== false) return "background";
  return generate !== undefined && generate !== null && generate !== true ? "generate" : undefined;
}
