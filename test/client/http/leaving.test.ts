import { expect, test } from "vitest";
import { TroupeClient } from "troupe/client";

test("a stream ends with its signal, even if its connection does not notice", async () => {
  let cancelled = false;
  const client = new TroupeClient({
    baseURL: "http://troupe.example",
    // As Node's, once it has collected the request as garbage.
    fetch: async () => {
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode(": ping\n\n")),
        cancel: () => {
          cancelled = true;
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    },
  });
  const leaving = new AbortController();
  const opened = Promise.withResolvers<void>();
  const onConnection = (): void => opened.resolve();
  const item = client.team("t").events({ signal: leaving.signal, onConnection }).next();
  await opened.promise;
  leaving.abort();
  await expect(item).rejects.toThrow(/abort/);
  expect(cancelled).toBe(true);
});
