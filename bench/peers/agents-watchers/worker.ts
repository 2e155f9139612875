import { Agent, type Connection, getAgentByName } from "agents";
import { spoken, watchOverSocket } from "../../worker/watching.ts";

interface Env {
  ROOM: DurableObjectNamespace<Room>;
  UPSTREAM: string;
}

/** An agent whose clients are connected over the hibernating sockets of its SDK, and get what a model says. */
export class Room extends Agent<Env> {
  override onConnect(connection: Connection): void {
    connection.send(new TextEncoder().encode(": welcome\n\n"));
  }

  override async onRequest(request: Request): Promise<Response> {
    this.ctx.waitUntil(this.#speak(await request.text()));
    return new Response(null, { status: 202 });
  }

  async #speak(model: string): Promise<void> {
    for await (const bytes of spoken(this.env, model)) this.broadcast(bytes);
  }
}

/** `/agents/{name}`: GET watches, POST has a model speak. */
export default {
  async fetch(request, env) {
    const room = await getAgentByName(
      env.ROOM,
      new URL(request.url).pathname.split("/").at(-1) ?? "",
    );
    return request.method === "POST" ? room.fetch(request) : watchOverSocket(room, request.url);
  },
} satisfies ExportedHandler<Env>;
