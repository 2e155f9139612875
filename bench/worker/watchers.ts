import { DurableObject } from "cloudflare:workers";
import worker, { type Env as StreamEnv } from "./stream.ts";

export { BareObject, TeamObject, TenantObject } from "./stream.ts";

type Env = StreamEnv & { ROOM: DurableObjectNamespace<BareRoom> };

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
    const answer = await fetch(`${this.env.UPSTREAM}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer bench" },
      body: JSON.stringify({ model, messages: [], stream: true }),
    });
    if (answer.body === null) throw new TypeError("the model server sent no body");
    for await (const bytes of answer.body) {
      for (const writer of this.#watchers) {
        writer.write(bytes).catch(() => this.#watchers.delete(writer));
      }
    }
  }
}

/** The Worker of streams; beside it `/rooms/{name}`: GET watches, POST has a model speak. */
export default {
  fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (!pathname.startsWith("/rooms/")) return worker.fetch(request, env);
    return env.ROOM.getByName(pathname).fetch(request);
  },
} satisfies ExportedHandler<Env>;
