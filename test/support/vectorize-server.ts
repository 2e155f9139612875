import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { StandInVectorize } from "./stand-in-vectorize.ts";

const METHODS = ["describe", "query", "getByIds", "upsert", "deleteByIds"] as const;

/** A stand-in for an index of Vectorize behind HTTP, for Workers in another process: `POST /{method}` with its arguments. */
export async function startVectorizeServer(dimensions: number) {
  const index = new StandInVectorize(dimensions);
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const method = METHODS.find((name) => request.url === `/${name}`);
      const given = JSON.parse(Buffer.concat(parts).toString()) as never[];
      const call = method && (index[method].bind(index) as (...given: never[]) => Promise<unknown>);
      void (call?.(...given) ?? Promise.reject(new Error("unknown method"))).then(
        (answer) => response.writeHead(200).end(JSON.stringify(answer)),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    index,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
