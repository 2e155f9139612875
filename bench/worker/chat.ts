import { DurableObject } from "cloudflare:workers";
import { createParser } from "eventsource-parser";

interface Env {
  CHAT: DurableObjectNamespace<BareChat>;
  UPSTREAM: string;
  SYSTEM: string;
}

/** What a turn needs to know. */
interface Turn {
  model: string;
  context: number | null;
  text: string;
}

/** The least that a Durable Object can do for a chat that is kept: two rows per turn and the model's reply as it comes. */
export class BareChat extends DurableObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.storage.sql.exec(
      "CREATE TABLE IF NOT EXISTS message (seq INTEGER PRIMARY KEY, role TEXT, content TEXT)",
    );
  }

  override async fetch(request: Request): Promise<Response> {
    const { model, context, text } = await request.json<Turn>();
    this.#append("user", text);
    const answer = await fetch(`${this.env.UPSTREAM}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer bench" },
      body: JSON.stringify({
        model,
        messages: [{ role: "system", content: this.env.SYSTEM }, ...this.#last(context)],
        stream: true,
        stream_options: { include_usage: true },
      }),
    });
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    this.ctx.waitUntil(this.#reply(answer, writable.getWriter()));
    return new Response(readable, { headers: { "content-type": "text/event-stream" } });
  }

  #append(role: string, content: string): void {
    this.ctx.storage.sql.exec("INSERT INTO message (role, content) VALUES (?, ?)", role, content);
  }

  #last(context: number | null): object[] {
    const query = "SELECT role, content FROM message ORDER BY seq DESC LIMIT ?";
    return this.ctx.storage.sql
      .exec(query, context ?? -1)
      .toArray()
      .toReversed();
  }

  async #reply(answer: Response, writer: WritableStreamDefaultWriter<Uint8Array>): Promise<void> {
    if (answer.body === null) throw new TypeError("the model server sent no body");
    const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];
    let [reply, ready] = ["", ""];
    const parser = createParser({
      onEvent: ({ data }) => {
        if (data === "[DONE]") return;
        const chunk = JSON.parse(data) as { choices: { delta: { content?: string } }[] };
        const content = chunk.choices[0]?.delta.content;
        if (!content) return;
        reply += content;
        ready += `data: ${JSON.stringify({ content })}\n\n`;
      },
    });
    for await (const bytes of answer.body) {
      parser.feed(decoder.decode(bytes, { stream: true }));
      await writer.write(encoder.encode(ready));
      ready = "";
    }
    this.#append("assistant", reply);
    await writer.write(encoder.encode("event: end\ndata: {}\n\n"));
    await writer.close();
  }
}

/** `POST /chats/{name}` */
export default {
  fetch: (request, env) => env.CHAT.getByName(new URL(request.url).pathname).fetch(request),
} satisfies ExportedHandler<Env>;
