import { createServer, request as send, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** What a proxy does to answers. */
export interface Interference {
  /** Cuts each stream after this many bytes, and after as many more with each request, so that it makes progress. */
  cutAfter?: number;
  /** The delay of each piece in milliseconds. */
  delayMs?: number;
  /** Sends each frame of a stream twice. */
  doubles?: boolean;
  /** Loses the responses to this many first requests, which the server has carried out. */
  loses?: number;
}

/** A proxy between a client and the server that behaves as badly as some do. */
export class BadProxy implements AsyncDisposable {
  readonly #server: Server;
  requests = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(target: string, interference: Interference): Promise<BadProxy> {
    const server = createServer((incoming, outgoing) => {
      const count = ++proxy.requests;
      const forwarded = send(
        new URL(incoming.url ?? "/", target),
        {
          method: incoming.method ?? "GET",
          headers: { ...incoming.headers, host: new URL(target).host },
        },
        (answer) => {
          if (count <= (interference.loses ?? 0)) {
            outgoing.destroy();
            answer.destroy();
            return;
          }
          outgoing.writeHead(answer.statusCode ?? 502, withoutLength(answer.headers));
          outgoing.flushHeaders();
          const isStream = answer.headers["content-type"] === "text/event-stream";
          void pass(answer, outgoing, isStream ? interference : {}, count).catch(() =>
            outgoing.destroy(),
          );
        },
      );
      forwarded.on("error", () => outgoing.destroy());
      outgoing.on("close", () => forwarded.destroy());
      incoming.pipe(forwarded);
    });
    const proxy = new BadProxy(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

async function pass(
  answer: AsyncIterable<Buffer>,
  outgoing: ServerResponse,
  { cutAfter, delayMs = 0, doubles = false }: Interference,
  count: number,
): Promise<void> {
  let left = cutAfter === undefined ? Infinity : cutAfter * count;
  let frame = "";
  for await (const bytes of answer) {
    if (delayMs > 0) await sleep(delayMs);
    let piece = bytes;
    if (doubles) {
      const frames = (frame + bytes.toString()).split("\n\n");
      frame = frames.pop() ?? "";
      piece = Buffer.from(frames.map((one) => `${one}\n\n${one}\n\n`).join(""));
    }
    if (piece.length >= left) {
      outgoing.write(piece.subarray(0, left), () => outgoing.destroy());
      return;
    }
    left -= piece.length;
    outgoing.write(piece);
  }
  outgoing.end(frame);
}

function withoutLength(
  headers: Record<string, string | string[] | undefined>,
): Record<string, string | string[]> {
  const kept = Object.entries(headers).filter(
    ([name, value]) =>
      value !== undefined && !["content-length", "transfer-encoding", "connection"].includes(name),
  );
  return Object.fromEntries(kept) as Record<string, string | string[]>;
}
