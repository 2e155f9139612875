import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { DyingDisk } from "./support/dying-disk.ts";

vi.mock(import("node:fs/promises"), async (original) => {
  const { onDyingDisk } = await import("./support/dying-disk.ts");
  return onDyingDisk(await original());
});

// Another test file may have loaded these modules in this worker, with the real disk.
vi.resetModules();
const { CountingIsolation, count, countingSessions } =
  await import("./support/counting-isolation.ts");

const here = new CountingIsolation(false);

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "sandbox-recording-"));
});
afterAll(() => rm(directory, { recursive: true }));

/** Counts in a process that dies after some operations on the disk. False when it got to its end before. */
async function countAndDie(
  data: string,
  operations: number,
  hasOutsideEffects: boolean,
): Promise<boolean> {
  const sessions = await countingSessions(data, new CountingIsolation(hasOutsideEffects));
  using disk = new DyingDisk(operations);
  return await Promise.race([
    disk.dead.then(() => true),
    count(sessions, "second").then(() => false),
  ]);
}

async function filesOf(data: string): Promise<Record<string, string>> {
  const sessions = await countingSessions(data, here);
  return sessions.files("s", async (files) => {
    const entries = files.list({ limit: 100 }).files.map(async ({ path }) => {
      const { handle } = await files.open(path);
      return [path, await text(handle.createReadStream())];
    });
    return Object.fromEntries(await Promise.all(entries)) as Record<string, string>;
  });
}

const ONE = { counter: "1", "made/1": "1" };
const TWO = { counter: "2", "made/1": "1", "made/2": "2" };

test.each([
  ["nowhere else", false, ["again", "recorded"]],
  ["elsewhere", true, ["again", "unknown", "recorded"]],
])(
  "a session that is killed at any moment has all of an execution or nothing (effects %s)",
  async (_, hasOutsideEffects, order) => {
    const start = join(directory, order.join());
    const first = await count(
      await countingSessions(start, new CountingIsolation(hasOutsideEffects)),
      "first",
    );
    const outcomes: string[] = [];
    for (let operations = 0; ; operations++) {
      const data = join(directory, `${order.join()}-${operations}`);
      await cp(start, data, { recursive: true });
      if (!(await countAndDie(data, operations, hasOutsideEffects))) break;

      const files = await filesOf(data);
      const recorded = "made/2" in files;
      expect(files).toEqual(recorded ? TWO : ONE);
      const sessions = await countingSessions(data, new CountingIsolation(hasOutsideEffects));
      const second = await count(sessions, "second");
      const unknown = second.exit_code === 1;
      expect(second.output).toMatch(unknown ? /^The sandbox was stopped while/ : /^2\.{5000}$/);
      expect(await filesOf(data)).toEqual(unknown ? ONE : TWO);
      expect(await count(sessions, "second")).toEqual(second);
      expect(await count(sessions, "first")).toEqual(first);
      // Nothing that was half done is left.
      const [session = ""] = await readdir(join(data, "sessions"));
      const blobs = await readdir(join(data, "sessions", session, "blobs"));
      expect(blobs).toHaveLength(unknown ? 3 : 5);
      outcomes.push(unknown ? "unknown" : recorded ? "recorded" : "again");
    }
    expect(outcomes.filter((one, index) => one !== outcomes[index - 1])).toEqual(order);
    expect(outcomes.length).toBeGreaterThan(10);
  },
);

test("a session that is removed while it is requested is a new one for later requests", async () => {
  const data = join(directory, "removed");
  await count(await countingSessions(data, here), "first");
  const sessions = await countingSessions(data, here);
  const [, second] = await Promise.all([sessions.remove("s"), count(sessions, "second")]);
  expect(second.output).toMatch(/^1\./);
  expect(await filesOf(data)).toEqual(ONE);
  const reopened = await countingSessions(data, here);
  expect(await count(reopened, "second")).toEqual(second);
  expect((await count(reopened, "first")).output).toMatch(/^2\./);
});
