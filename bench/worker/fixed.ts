import { DurableObject } from "cloudflare:workers";
import { createParser } from "eventsource-parser";
import worker, { type Env as TroupeEnv } from "troupe/worker";

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
    const answer = await fetch(`${this.env.UPSTREAM}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer bench" },
      body: JSON.stringify({
        model,
        messages,
        stream: true,
        stream_options: { include_usage: true },
      }),
    });
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    this.ctx.waitUntil(this.#stream(answer, writable.getWriter()));
    return new Response(readable, { headers: { "content-type": "text/event-stream" } });
  }

  async #stream(answer: Response, writer: WritableStreamDefaultWriter<Uint8Array>): Promise<void> {
    const encoder = new TextEncoder();
    const decoder = new TextDecoder();
    const full_message_id = crypto.randomUUID();
    let reply = "";
    let ready = "";
    const parser = createParser({
      onEvent: ({ data }) => {
        if (data === "[DONE]") return;
        const chunk = JSON.parse(data) as { choices: { delta: { content?: string } }[] };
        const content = chunk.choices[0]?.delta.content;
        if (!content) return;
        reply += content;
        const item = {
          source: "assistant",
          content,
          full_message_id,
          type: "ModelClientStreamingChunkEvent",
        };
        ready += `data: ${JSON.stringify(item)}\n\n`;
      },
    });
    if (answer.body === null) throw new TypeError("the model server sent no body");
    for await (const bytes of answer.body) {
      parser.feed(decoder.decode(bytes, { stream: true }));
      if (ready === "") continue;
      const text = ready;
      ready = "";
      await writer.write(encoder.encode(text));
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
