import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CountingIsolation, count, countingSessions } from "./support/counting-isolation.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "sandbox-sessions-"));
});
afterAll(() => rm(directory, { recursive: true }));

test.concurrent("interpreters are kept ready for the sessions that used theirs last, and for a while", async () => {
  const isolation = new CountingIsolation(false);
  const options = { maxWarm: 2, warmSeconds: 1 };
  const sessions = await countingSessions(join(directory, "warm"), isolation, options);
  await count(sessions, "1", "a");
  const [first] = isolation.open;
  for (const session of ["b", "a", "c"]) await count(sessions, "2", session);
  expect(isolation.open.size).toBe(2);
  expect(isolation.open.has(first!)).toBe(true);
  await expect.poll(() => isolation.open.size).toBe(0);
  expect((await count(sessions, "3", "a")).output).toMatch(/^3\./);
  await sessions.close();
  expect(isolation.open.size).toBe(0);
});

test.concurrent("a session is removed after a long time without execution or writing", async () => {
  const data = join(directory, "idle");
  const sessions = await countingSessions(data, new CountingIsolation(false), { idleSeconds: 1 });
  await count(sessions, "1", "idle");
  const use = () =>
    sessions.newFiles("used", (files) => files.put("a", ReadableStream.from([Buffer.from("x")])));
  const [idle] = await readdir(join(data, "sessions"));
  const left = async () => {
    await use();
    return readdir(join(data, "sessions"));
  };
  await expect.poll(left, { interval: 100 }).not.toContain(idle);
  expect(await left()).toHaveLength(1);
  expect(await sessions.files("used", (files) => files.list({ limit: 10 }))).toMatchObject({
    files: [{ path: "a" }],
  });
  expect((await count(sessions, "1", "idle")).output).toMatch(/^1\./);
});

test("only the last results are kept", async () => {
  const data = join(directory, "results");
  const sessions = await countingSessions(data, new CountingIsolation(false), {
    recordedResults: 2,
  });
  for (const key of ["1", "2", "3"]) await count(sessions, key);
  expect((await count(sessions, "2")).output).toMatch(/^2\./);
  expect((await count(sessions, "1")).output).toMatch(/^4\./);
});

test("a fault of the service is not a result, and can be requested again", async () => {
  const isolation = new CountingIsolation(false);
  const problems: unknown[] = [];
  const log = (error: unknown): void => void problems.push(error);
  const sessions = await countingSessions(join(directory, "failure"), isolation, { log });
  await count(sessions, "1");
  const [runner] = isolation.open;
  runner!.run = () => Promise.reject(new Error("broken"));
  await expect(count(sessions, "2")).rejects.toMatchObject({
    status: 503,
    code: "isolation_failed",
  });
  expect(problems).toMatchObject([{ message: "broken" }]);
  expect((await count(sessions, "2")).output).toMatch(/^2\./);
});
