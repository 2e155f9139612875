import { expect, test } from "vitest";
import { loaderJavaScript } from "#components/worker-loader/loader-javascript.ts";
import type { WorkerCode, WorkerLoaderBinding } from "#components/worker-loader/worker-loader.ts";
import { sha256Hex } from "#core/hash.ts";
import { runContext } from "#core/turn/run-context.ts";

test("A Worker is named by its tenant and by all that makes it", async () => {
  const made: { name: string; code: WorkerCode }[] = [];
  const loader: WorkerLoaderBinding = {
    get(name, code) {
      made.push({ name, code: code() });
      const fetch = () => Promise.resolve(Response.json({ text: "" }));
      return { getEntrypoint: () => ({ fetch }) };
    },
    load() {
      throw new Error("not expected");
    },
  };
  const call = (tenant: string, source: string, seconds: number) => {
    const run = runContext({ id: "r1", team: "t1", tenant });
    const { signal } = new AbortController();
    const attempt = { attempt: 1, idempotencyKey: "k", signal };
    return loaderJavaScript(loader).call({ source, args: {}, run, seconds }, attempt);
  };
  await call("acme", "one", 10);
  await call("other", "one", 10);
  await call("acme", "two", 10);
  await call("acme", "one", 20);
  await call("acme", "one", 10);
  const names = made.map(({ name }) => name);
  expect(new Set(names).size).toBe(4);
  expect(names[4]).toBe(names[0]);
  const [first] = made;
  expect(first?.name).toBe(await sha256Hex(JSON.stringify(["acme", first?.code])));
  expect(Object.keys(first?.code.modules ?? {})).toEqual(["main.js", "call.js", "source_code.js"]);
});
