import type { SandboxFetch } from "troupe";

/** What the sandbox of all test objects was asked: `POST /v1/sessions/…`, without the name of the host. */
export const sandboxCalls: { call: string; key: string | null }[] = [];

/** Sessions that were released. */
export const released: string[] = [];

/** Tests and objects share an isolate, so a test can say what the sandbox answers. */
let answer: SandboxFetch = () => Promise.reject(new TypeError("nobody said what is answered"));
let release: () => Promise<void> = () => Promise.resolve();

export const sandboxAddress = {
  url: "https://sandbox.test",
  fetch: (url: string, init: RequestInit): Promise<Response> => {
    const key = new Headers(init.headers).get("idempotency-key");
    sandboxCalls.push({ call: `${init.method} ${new URL(url).pathname}`, key });
    return answer(url, init);
  },
};

export function answerAs(next: SandboxFetch): void {
  sandboxCalls.length = 0;
  answer = next;
}

export function releaseSession(session: string): Promise<void> {
  released.push(session);
  return release();
}

/** Says how releasing a session goes. */
export function releaseAs(next: () => Promise<void>): void {
  released.length = 0;
  release = next;
}

/** A stream with what the code printed, and its result if it has ended. */
export function execution(output: string, exitCode?: number): Response {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const send = (event: string, data: object): Promise<void> =>
    writer.write(new TextEncoder().encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`));
  const run = async (): Promise<void> => {
    await send("output", { text: output });
    if (exitCode === undefined) return;
    await send("result", { exit_code: exitCode, output, truncated: false });
    await writer.close();
  };
  // Whoever read it may have gone.
  run().catch(() => undefined);
  return new Response(readable, { headers: { "content-type": "text/event-stream" } });
}
