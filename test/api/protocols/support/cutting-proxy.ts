import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A proxy before a server whose connections a test can cut. */
export interface CuttingProxy extends AsyncDisposable {
  url: string;
  /** What was asked, in order: method, and `Last-Event-ID` where there was one. */
  asked: { method: string; last: string | undefined }[];
  /** Cuts the connections of the calls that are answered now. */
  cut: () => void;
}

/** @param origin the server's */
export async function startCuttingProxy(origin: string): Promise<CuttingProxy> {
  const asked: CuttingProxy["asked"] = [];
  const open = new Set<ServerResponse>();
  const forward = (from: IncomingMessage, to: ServerResponse): void => {
    const { method = "GET", url = "/", headers } = from;
    const last = headers["last-event-id"];
    asked.push({ method, last: typeof last === "string" ? last : undefined });
    open.add(to);
    to.on("close", () => open.delete(to));
    const target = new URL(url, origin);
    const out = request(
      target,
      { method, headers: { ...headers, host: target.host } },
      (response) => {
        to.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(to);
        response.on("error", () => to.destroy());
      },
    );
    out.on("error", () => to.destroy());
    to.on("close", () => out.destroy());
    from.pipe(out);
  };
  const server = createServer(forward);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    cut: () => open.forEach((response) => response.destroy()),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
