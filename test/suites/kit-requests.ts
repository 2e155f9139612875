import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** A proxy in front of the server of the A2A kit. */
export interface KitRequests extends AsyncDisposable {
  url: string;
}

/**
 * Forwards the kit's requests to a server, after two corrections. The kit sends the same message again where it wants another
 * task, and a server may find the task of the first one: each message gets an id of its own. And the kit asks for the card without
 * the version that clients of 1.0 must send.
 *
 * @param origin the server's
 */
export async function startKitRequests(origin: string): Promise<KitRequests> {
  let messages = 0;
  const forward = async (from: IncomingMessage, to: ServerResponse): Promise<void> => {
    const { method = "GET", url = "/", headers } = from;
    const { "content-length": _, ...rest } = headers;
    const isCard = url.endsWith("/.well-known/agent-card.json");
    const sent = (await buffer(from)).toString();
    const out = request(
      new URL(url, origin),
      { method, headers: { ...rest, ...(isCard && { "a2a-version": "1.0" }) } },
      (response) => {
        to.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(to);
        response.on("error", () => to.destroy());
      },
    );
    out.on("error", () => to.destroy());
    to.on("close", () => out.destroy());
    out.end(
      sent.replace(/("messageId": ?"[^"]+)"/, (_whole, id: string) => `${id}-${++messages}"`),
    );
  };
  const server = createServer((from, to) => void forward(from, to));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
