import { DurableObject } from "cloudflare:workers";
import { createParser } from "eventsource-parser";
import worker, { type Env as TroupeEnv } from "troupe/worker";

export { TeamObject, TenantObject } from "troupe/worker";

export type Env = TroupeEnv & { BARE: DurableObjectNamespace<BareObject>; UPSTREAM: string };

/** Asks the model server as an agent would. */
function ask(model: string, upstream: string): Promise<Response> {
  return fetch(`${upstream}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer bench" },
    body: JSON.stringify({
      model,
      messages: [{ role: "user", content: "Hello" }],
      stream: true,
      stream_options: { include_usage: true },
    }),
  });
}

/**
 * The least that a Durable Object can do to stream a model's reply: it reads the server's events, makes a frame of each
 * piece of text, and writes together what arrived together.
 */
export class BareObject extends DurableObject<Env> {
  override async fetch(request: Request): Promise<Response> {
    const model = new URL(request.url).searchParams.get("model") ?? "";
    const answer = await ask(model, this.env.UPSTREAM);
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    this.ctx.waitUntil(frames(answer, writable.getWriter()));
    return new Response(readable, { headers: { "content-type": "text/event-stream" } });
  }
}

async function frames(
  answer: Response,
  writer: WritableStreamDefaultWriter<Uint8Array>,
): Promise<void> {
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  const full_message_id = crypto.randomUUID();
  const created_at = new Date().toISOString();
  let ready = "";
  let count = 0;
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data === "[DONE]") return;
      const chunk = JSON.parse(data) as { choices: { delta: { content?: string } }[] };
      const content = chunk.choices[0]?.delta.content;
      if (!content) return;
      const item = {
        id: `${full_message_id}:${count++}`,
        source: "assistant",
        models_usage: null,
        metadata: {},
        created_at,
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
  await writer.close();
}

let objects = 0;

/** The deployed Worker; beside it `/pipe`, which hands on the server's bytes, and `/bare`, a bare object each time. */
export default {
  fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const model = searchParams.get("model") ?? "";
    if (pathname === "/pipe") return ask(model, env.UPSTREAM);
    if (pathname === "/bare") return env.BARE.getByName(`bare-${objects++ % 200}`).fetch(request);
    return worker.fetch(request, env);
  },
} satisfies ExportedHandler<Env>;
