import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { UnstoredIds } from "./unstored-responses.ts";

/** The query parameter of a request for a socket. */
const CALLER = "responses";

/** The caller of a new socket. */
export interface SocketCaller {
  caller: JsonObject;
  origin: string;
}

/** A request for the socket of a caller. */
export function socketRequest({ caller, origin }: SocketCaller): Request {
  const query = new URLSearchParams({ [CALLER]: JSON.stringify({ caller, origin }) });
  return new Request(`https://object/responses?${query.toString()}`, {
    headers: { upgrade: "websocket" },
  });
}

/** The caller of such a request; undefined for any other request. */
export function socketCallerOf({ url }: Request): SocketCaller | undefined {
  const json = new URL(url).searchParams.get(CALLER);
  return json === null ? undefined : (JSON.parse(json) as SocketCaller);
}

/** The data of a socket that its object keeps while it is unloaded. The credential itself is not kept. */
export interface SocketOfCaller {
  /** The authenticated caller, as `ResponseSocketsHost.respond` gets it. */
  caller: JsonObject;
  /** The created key that it ends with. */
  key: string | null;
  /** The token of a team that it ends with. */
  token?: { team: string; id: string | null; made_at: number };
  /** The address at which the caller reaches the service. */
  origin: string;
  /** The time of its end, in epoch milliseconds. */
  until: number;
  /** True if it ends then because the credential expires. */
  expires: boolean;
  /** Left out before the first response that is not stored. */
  unstored?: UnstoredIds;
}

/** The token of a team with which a caller came. */
export function tokenOf({ team }: JsonObject): SocketOfCaller["token"] {
  if (!isJsonObject(team) || typeof team["id"] !== "string" || !isJsonObject(team["token"])) {
    return undefined;
  }
  const { id, made_at } = team["token"];
  return {
    team: team["id"],
    id: typeof id === "string" ? id : null,
    made_at: typeof made_at === "number" ? made_at : 0,
  };
}

export function attachmentOf(socket: WebSocket): SocketOfCaller {
  return socket.deserializeAttachment() as SocketOfCaller;
}
