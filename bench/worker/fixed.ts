import { DurableObject } from "cloudflare:workers";
import worker, { type Env as TroupeEnv } from "troupe/worker";
import { ask, textsOf } from "./model-server.ts";

export { TeamObject, TenantObject } from "troupe/worker";

type Env = TroupeEnv & { BARE: DurableObjectNamespace<BareObject>; UPSTREAM: string };

/**
 * The least that a Durable Object can do for a conversation that survives a restart: it stores what it was made of, each
 * task before the model is asked, and each reply; it writes a frame for each piece of text.
 */
export class BareObject extends DurableObject<Env> {
  override async fetch(request: Request): Promise<Response> {
    return request.method === "PUT" ? this.#create(request) : this.#run(request);
  }

  async #create(request: Request): Promise<Response> {
    const { sql } = this.ctx.storage;
    const config = JSON.stringify(await request.json());
    sql.exec(
      "create table config (body text); create table message (seq integer primary key, role text, content text)",
    );
    sql.exec("insert into config values (?)", config);
    return Response.json({ created: true }, { status: 201 });
  }

  async #run(request: Request): Promise<Response> {
    const { sql } = this.ctx.storage;
    const { task } = await request.json<{ task: string }>();
    const [row] = sql.exec<{ body: string }>("select body from config").toArray();
    const { model } = JSON.parse(row?.body ?? "{}") as { model: string };
    sql.exec("insert into message (role, content) values ('user', ?)", task);
    const messages = sql.exec("select role, content from message order by seq").toArray();
    const answer = await ask(this.env.UPSTREAM, model, messages);
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    this.ctx.waitUntil(this.#stream(answer, writable.getWriter()));
    return new Response(readable, { headers: { "content-type": "text/event-stream" } });
  }

  async #stream(answer: Response, writer: WritableStreamDefaultWriter<Uint8Array>): Promise<void> {
    const encoder = new TextEncoder();
    const full_message_id = crypto.randomUUID();
    let reply = "";
    for await (const texts of textsOf(answer)) {
      let frames = "";
      for (const content of texts) {
        reply += content;
        const item = {
          source: "assistant",
          content,
          full_message_id,
          type: "ModelClientStreamingChunkEvent",
        };
        frames += `data: ${JSON.stringify(item)}\n\n`;
      }
      await writer.write(encoder.encode(frames));
    }
    this.ctx.storage.sql.exec("insert into message (role, content) values ('assistant', ?)", reply);
    await writer.write(
      encoder.encode(`data: ${JSON.stringify({ type: "TextMessage", content: reply })}\n\n`),
    );
    await writer.close();
  }
}

/** The deployed Worker, and `/bare/{name}` beside it. */
export default {
  fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (!pathname.startsWith("/bare/")) return worker.fetch(request, env);
    return env.BARE.getByName(pathname).fetch(request);
  },
} satisfies ExportedHandler<Env>;
