import { afterAll, beforeAll, expect, test } from "vitest";
import { TroupeClient } from "troupe/client";
import { SAMPLE_COMPONENT } from "../support/sample-component.ts";
import { Sandbox } from "../support/sandbox.ts";
import { WebhookReceiver } from "../support/webhook-receiver.ts";
import { TestWorker } from "../support/worker.ts";

let sandbox: Sandbox;
let receiver: WebhookReceiver;
let worker: TestWorker;
let client: TroupeClient;

beforeAll(async () => {
  sandbox = await Sandbox.start();
  receiver = await WebhookReceiver.start();
  worker = await TestWorker.start({
    SANDBOX_URL: sandbox.url,
    SANDBOX_KEY: sandbox.key,
    SECRETS_KEY: btoa("k".repeat(32)),
  });
  client = new TroupeClient({ baseURL: await worker.origin });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
});

test("files of a team are written, listed in pages, read and deleted", async () => {
  const team = await client.teams.create({ template: "writer_critic" });
  const bytes = new Uint8Array([0, 255, 10, 13]);
  await team.writeFile("data/100% größe #1.bin", bytes);
  await team.writeFile("notes.txt", "first");
  await team.writeFile("notes.txt", new Blob(["second"], { type: "text/plain" }));
  const first = await team.files({ limit: 1 });
  expect(first.files).toMatchObject([{ path: "data/100% größe #1.bin", size: 4 }]);
  const rest = await team.files({ cursor: first.next_cursor ?? "" });
  expect(rest.files).toMatchObject([
    { path: "notes.txt", size: 6, media_type: expect.stringMatching(/^text\/plain/) as string },
  ]);
  const read = await team.readFile("data/100% größe #1.bin");
  expect(new Uint8Array(await read.arrayBuffer())).toEqual(bytes);
  expect(await (await team.readFile("notes.txt")).text()).toBe("second");
  await team.deleteFile("notes.txt");
  await expect(team.readFile("notes.txt")).rejects.toMatchObject({ code: "file_not_found" });
});

test("webhooks are stored, tested and deleted, and their deliveries sent again", async () => {
  const webhook = { url: receiver.url(), events: ["run.completed" as const] };
  const { secret = "" } = await client.webhooks.put("hook", webhook);
  expect(secret).toMatch(/^whsec_/);
  const changed = await client.webhooks.put("hook", { ...webhook, description: "Ours." });
  expect(changed).not.toHaveProperty("secret");
  expect(await client.webhooks.list()).toMatchObject([{ id: "hook", description: "Ours." }]);
  expect(await client.webhooks.test("hook")).toMatchObject({ delivered: true, status: 200 });

  const team = await client.teams.create({ component: SAMPLE_COMPONENT });
  await team.run("Go.").result();
  await receiver.events(secret, 2);
  await expect
    .poll(
      async () => (await client.webhooks.deliveries("hook", { status: "delivered" })).deliveries,
    )
    .toMatchObject([{ type: "run.completed", team_id: team.id, attempts: 1 }]);
  const { deliveries } = await client.webhooks.deliveries("hook");
  const id = deliveries[0]?.id ?? "";
  expect(await client.webhooks.retry("hook", id)).toMatchObject({ id, status: "pending" });
  await receiver.events(secret, 3);

  const rotated = await client.webhooks.rotateSecret("hook");
  expect(rotated.secret).not.toBe(secret);
  expect(rotated.previous_secret_expires_at).not.toBeNull();
  expect((await client.webhooks.defaultSecret()).secret).toMatch(/^whsec_/);
  await client.webhooks.delete("hook");
  await expect(client.webhooks.get("hook")).rejects.toMatchObject({ code: "webhook_not_found" });
});

test("a token is valid for its team", async () => {
  const team = await client.teams.create({ template: "writer_critic" });
  const token = await team.createToken({ scopes: ["runs:read"], expires_in: 60 });
  expect(token).toMatchObject({ team_id: team.id, scopes: ["runs:read"] });
});
