import { spawn } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { jsonInit } from "../support/http-app.ts";
import { ROOT } from "../support/npm-start.ts";
import { file, Workplace } from "../support/pages.ts";
import { freePort } from "../support/ports.ts";
import { TestWorker } from "../support/worker.ts";
import { PATIENCE } from "../support/patience.ts";

const place = new Workplace();
let worker: TestWorker;

beforeAll(async () => {
  worker = await TestWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

test("the receiver of the page accepts events that are signed with its secret, and refuses the rest", async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const created = await worker.fetch(
    "/v1/webhooks/ops",
    jsonInit({ url, events: ["run.completed"] }, "PUT"),
  );
  const { secret } = (await created.json()) as { secret: string };
  const receiver = spawn(
    join(ROOT, "node_modules/.bin/node"),
    [place.write("receiver.ts", file("receiver.ts"))],
    { env: { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret } },
  );
  try {
    let output = "";
    receiver.stdout.on("data", (text: Buffer) => {
      output += String(text);
    });
    const status = await vi.waitFor(
      async () => (await fetch(url, { method: "POST", body: "{}" })).status,
      PATIENCE,
    );
    expect(status).toBe(401);
    const tested = await worker.fetch("/v1/webhooks/ops/test", { method: "POST" });
    expect(await tested.json()).toMatchObject({ delivered: true, status: 204 });
    await vi.waitUntil(() => output.includes("\n"), PATIENCE);
    expect(output).toBe('webhook.test {"webhook_id":"ops"}\n');
  } finally {
    receiver.kill();
  }
});
