// Skills in the accounts of their tenant: the limit of stored bytes, and the end of a tenant.
import { afterAll, beforeAll, expect, test } from "vitest";
import { sha256Hex } from "#core/hash.ts";
import { jsonInit } from "../../support/http-app.ts";
import { TestWorker } from "../../support/worker.ts";

const OPERATOR = "operator-secret";

let worker: TestWorker;

beforeAll(async () => {
  worker = await TestWorker.start({
    TROUPE_OPEN: "",
    OPERATOR_KEY_HASH: await sha256Hex(OPERATOR),
  });
});

afterAll(() => worker[Symbol.asyncDispose]());

async function send(tenant: string, method: string, path: string, body?: unknown) {
  const headers = { authorization: `Bearer ${OPERATOR}`, "troupe-tenant": tenant };
  const init = body === undefined ? { method, headers } : jsonInit(body, method, headers);
  const response = await worker.fetch(path, init);
  const text = await response.text();
  return { status: response.status, body: (text === "" ? {} : JSON.parse(text)) as object };
}

const filesOf = (name: string, text: string) => ({
  "SKILL.md": `---\nname: ${name}\ndescription: Helps.\n---\n${text}\n`,
  "words.txt": text,
});
const put = (tenant: string, name: string, text: string) =>
  send(tenant, "PUT", `/v1/skills/${name}`, { files: filesOf(name, text) });
const limit = (tenant: string, stored_bytes: number | null) =>
  send(tenant, "PUT", `/v1/tenants/${tenant}`, { limits: { stored_bytes } });

test("a skill above the limit of stored bytes is refused, and nothing of it is stored", async () => {
  expect(await put("full", "kept", "One.")).toMatchObject({ status: 201, body: { version: 1 } });
  const { body } = await send("full", "GET", "/v1/tenants/full");
  const { stored_bytes } = body as { stored_bytes: number };
  expect(stored_bytes).toBeGreaterThan(0);
  await limit("full", stored_bytes);
  const refused = {
    status: 507,
    body: { code: "too_many_stored_bytes", limit: "stored_bytes", value: stored_bytes },
  };
  expect(await put("full", "kept", "Two.")).toMatchObject(refused);
  expect(await put("full", "other", "One.")).toMatchObject(refused);
  expect(await send("full", "GET", "/v1/skills")).toMatchObject({
    body: { skills: [{ name: "kept", version: 1 }] },
  });
  expect((await send("full", "GET", "/v1/skills/other")).status).toBe(404);
  expect(await send("full", "GET", "/v1/tenants/full")).toMatchObject({ body: { stored_bytes } });
  // Equal files store nothing.
  expect(await put("full", "kept", "One.")).toMatchObject({ status: 200, body: { version: 1 } });
  expect((await send("full", "DELETE", "/v1/skills/kept")).status).toBe(204);
  expect(await put("full", "other", "One.")).toMatchObject({ status: 201 });
});

test("the skills of a tenant are deleted with it", async () => {
  await put("gone", "first", "One.");
  await put("gone", "first", "Two.");
  await put("stays", "first", "One.");
  expect((await send("gone", "DELETE", "/v1/tenants/gone")).status).toBe(202);
  await expect.poll(async () => (await send("gone", "GET", "/v1/tenants/gone")).status).toBe(404);
  // Its name may be used again once everything is deleted.
  await expect.poll(async () => (await put("gone", "third", "One.")).status).toBe(201);
  expect(await send("gone", "GET", "/v1/skills")).toMatchObject({
    body: { skills: [{ name: "third", version: 1 }] },
  });
  expect(await put("gone", "first", "Three.")).toMatchObject({ status: 201, body: { version: 1 } });
  expect((await send("stays", "GET", "/v1/skills/first")).status).toBe(200);
});
