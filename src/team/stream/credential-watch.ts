/** The tag of the sockets, which tells them from those of watchers. */
const TAG = "credential";
/** The code with which an object closes a socket whose credential has ended. */
const ENDED_CODE = 4001;

/** The query parameter with the credential, as JSON. */
const CREDENTIAL = "credential";

/** A request for a socket that its object closes when the credential ends. */
export function credentialRequest(credential: unknown): Request {
  const query = new URLSearchParams({ [CREDENTIAL]: JSON.stringify(credential) });
  return new Request(`https://object/credential?${query.toString()}`, {
    headers: { upgrade: "websocket" },
  });
}

/** The credential of such a request; undefined for any other request. */
export function credentialOf<Credential>({ url }: Request): Credential | undefined {
  const json = new URL(url).searchParams.get(CREDENTIAL);
  return json === null ? undefined : (JSON.parse(json) as Credential);
}

/**
 * The sockets over which Workers learn that a credential of an open stream was revoked. Only its object knows that, and asking it
 * from time to time would keep it in memory as long as a page is open; these sockets hibernate.
 */
export class CredentialSockets<Credential> {
  readonly #ctx: DurableObjectState;

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
  }

  /** @param isValid whether the credential is valid now */
  open(credential: Credential, isValid: boolean): Response {
    if (!isValid) return new Response(null, { status: 401 });
    const { 0: end, 1: socket } = new WebSocketPair();
    this.#ctx.acceptWebSocket(socket, [TAG]);
    socket.serializeAttachment(credential);
    return new Response(null, { status: 101, webSocket: end });
  }

  /** Closes the sockets of credentials that have ended. */
  end(hasEnded: (credential: Credential) => boolean): void {
    for (const socket of this.#ctx.getWebSockets(TAG)) {
      if (hasEnded(socket.deserializeAttachment() as Credential)) socket.close(ENDED_CODE);
    }
  }
}

/**
 * Waits until an object says that a credential has ended.
 *
 * @param response the answer of the object to a {@link credentialRequest}
 * @param signal ends the waiting
 * @returns whether it has ended; false when the object was restarted, or the waiting has ended
 */
export async function credentialEnd(
  { status, webSocket }: Response,
  signal: AbortSignal,
): Promise<boolean> {
  if (webSocket === null) return status === 401;
  return new Promise((resolve) => {
    const leave = (): void => {
      webSocket.close(1000);
      resolve(false);
    };
    webSocket.addEventListener("close", ({ code }) => {
      signal.removeEventListener("abort", leave);
      resolve(code === ENDED_CODE);
    });
    webSocket.addEventListener("error", () => resolve(false));
    webSocket.accept();
    signal.addEventListener("abort", leave, { once: true });
    if (signal.aborted) leave();
  });
}
