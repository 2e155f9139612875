import { expect, test } from "vitest";
import { type LiveFrame, nativeFrames } from "#team/stream/frames.ts";
import { type LiveClient, LiveFeed } from "#team/stream/live-feed.ts";

const STEPS: LiveFrame = {
  event: "activity",
  data: { run_id: "a", at: "2026-01-01T00:00:00.000Z", steps: [] },
};
const CAUGHT_UP: LiveFrame = { event: "caught_up", data: {} };

/** A feed, and the next text that its one client gets in one write. */
function connected(flush = (): void => undefined): { feed: LiveFeed; next: Promise<string> } {
  const feed = new LiveFeed({
    idleMs: 0,
    db: { flush },
    log: { last: 0 },
    restarts: () => 0,
  });
  const next = new Promise<string>((resolve) => {
    const client: LiveClient = {
      run: null,
      writer: nativeFrames,
      client: { credential: "key", stream: "one" },
      hibernates: true,
      push: ({ frames }) => resolve(new TextDecoder().decode(frames)),
      close: () => undefined,
    };
    feed.enter(client);
    feed.join(client);
  });
  return { feed, next };
}

test("a frame that may wait goes in one write with the next one that may not", async () => {
  const { feed, next } = connected();
  feed.send(STEPS, 600_000);
  feed.send(CAUGHT_UP);
  expect(await next).toMatch(/^event: activity\n.*\n\nevent: caught_up\n/);
});

test("a frame that may wait delays none before it, and goes with them", async () => {
  const { feed, next } = connected();
  feed.send(CAUGHT_UP);
  feed.send(STEPS, 600_000);
  expect(await next).toMatch(/^event: caught_up\n.*\n\nevent: activity\n/);
});

test("a frame that may wait is sent after its time when none follows", async () => {
  const { feed, next } = connected();
  feed.send(STEPS, 1);
  expect(await next).toMatch(/^event: activity\n/);
});

test("T6: delayed writes are made before the bytes leave that report them", async () => {
  const order: string[] = [];
  const { feed, next } = connected(() => void order.push("writes"));
  const sent = next.then(() => order.push("bytes"));
  feed.send(CAUGHT_UP);
  await sent;
  expect(order).toEqual(["writes", "bytes"]);
});
