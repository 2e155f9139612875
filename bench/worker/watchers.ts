import { DurableObject } from "cloudflare:workers";
import worker, { type Env as StreamEnv } from "./stream.ts";
import { spoken, watchOverSocket } from "./watching.ts";

export { BareObject, TeamObject, TenantObject } from "./stream.ts";

type Env = StreamEnv & {
  ROOM: DurableObjectNamespace<BareRoom>;
  SOCKETS: DurableObjectNamespace<BareSockets>;
};

/** The least that a Durable Object can do for watchers: it writes what a model's server sends to each of them as it comes. */
export class BareRoom extends DurableObject<Env> {
  readonly #watchers = new Set<WritableStreamDefaultWriter<Uint8Array>>();

  override async fetch(request: Request): Promise<Response> {
    if (request.method === "POST") {
      this.ctx.waitUntil(this.#speak(await request.text()));
      return new Response(null, { status: 202 });
    }
    const { readable, writable } = new IdentityTransformStream();
    const writer = writable.getWriter();
    this.#watchers.add(writer);
    void writer.write(new TextEncoder().encode(": welcome\n\n"));
    writer.closed.catch(() => this.#watchers.delete(writer));
    return new Response(readable, { headers: { "content-type": "text/event-stream" } });
  }

  async #speak(model: string): Promise<void> {
    for await (const bytes of spoken(this.env, model)) {
      for (const writer of this.#watchers) {
        writer.write(bytes).catch(() => this.#watchers.delete(writer));
      }
    }
  }
}

/** The same over hibernating sockets, which the Worker passes on to its watchers. */
export class BareSockets extends DurableObject<Env> {
  override async fetch(request: Request): Promise<Response> {
    if (request.method === "POST") {
      this.ctx.waitUntil(this.#speak(await request.text()));
      return new Response(null, { status: 202 });
    }
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    server.send(new TextEncoder().encode(": welcome\n\n"));
    return new Response(null, { status: 101, webSocket: client });
  }

  async #speak(model: string): Promise<void> {
    for await (const bytes of spoken(this.env, model)) {
      for (const socket of this.ctx.getWebSockets()) socket.send(bytes);
    }
  }
}

/**
 * The Worker of streams; beside it `/rooms/{name}` and `/sockets/{name}`: GET watches, POST has a model speak.
 */
export default {
  fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/rooms/")) return env.ROOM.getByName(pathname).fetch(request);
    if (!pathname.startsWith("/sockets/")) return worker.fetch(request, env);
    const room = env.SOCKETS.getByName(pathname);
    return request.method === "POST" ? room.fetch(request) : watchOverSocket(room, request.url);
  },
} satisfies ExportedHandler<Env>;
