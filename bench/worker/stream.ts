import { DurableObject } from "cloudflare:workers";
import worker, { type Env as TroupeEnv } from "troupe/worker";
import { ask, textsOf } from "./model-server.ts";

export { TeamObject, TenantObject } from "troupe/worker";

export type Env = TroupeEnv & { BARE: DurableObjectNamespace<BareObject>; UPSTREAM: string };

const HELLO = [{ role: "user", content: "Hello" }];

/**
 * The least that a Durable Object can do to stream a model's reply: it reads the server's events, makes a frame of each
 * piece of text, and writes together what arrived together.
 */
export class BareObject extends DurableObject<Env> {
  override async fetch(request: Request): Promise<Response> {
    const model = new URL(request.url).searchParams.get("model") ?? "";
    const answer = await ask(this.env.UPSTREAM, model, HELLO);
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
  const full_message_id = crypto.randomUUID();
  const created_at = new Date().toISOString();
  let count = 0;
  for await (const texts of textsOf(answer)) {
    let ready = "";
    for (const content of texts) {
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
    }
    await writer.write(encoder.encode(ready));
  }
  await writer.close();
}

let objects = 0;

/**
 * The deployed Worker; beside it `/pipe`, which hands on the server's bytes, and `/bare`, which asks a bare object: another one
 * each time unless the request names one.
 */
export default {
  fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const model = searchParams.get("model") ?? "";
    if (pathname === "/pipe") return ask(env.UPSTREAM, model, HELLO);
    if (pathname === "/bare") {
      const name = searchParams.get("object") ?? `bare-${objects++ % 200}`;
      return env.BARE.getByName(name).fetch(request);
    }
    return worker.fetch(request, env);
  },
} satisfies ExportedHandler<Env>;
