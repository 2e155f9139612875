import { afterAll, beforeAll, expect, test } from "vitest";
import { TroupeClient } from "troupe/client";
import { MemoriesStore } from "#client/stores/memories-store.ts";
import { TestWorker } from "../../support/worker.ts";

let worker: TestWorker;
let client: TroupeClient;

beforeAll(async () => {
  worker = await TestWorker.start();
  client = new TroupeClient({ baseURL: await worker.origin });
});

afterAll(() => worker[Symbol.asyncDispose]());

test("memories are loaded, changed and loaded again", async () => {
  const store = new MemoriesStore(client, { user: "ada", pageSize: 2 });
  const contents = (): unknown[] => store.state.memories.map(({ content }) => content);
  const leave = store.subscribe(() => undefined);
  await expect.poll(() => store.state.status).toBe("open");
  for (const content of ["One.", "Two.", "Three."]) await store.add(content);
  await expect.poll(contents).toEqual(["Three.", "Two."]);
  expect(store.state.hasMore).toBe(true);
  await store.loadMore();
  await expect.poll(contents).toEqual(["Three.", "Two.", "One."]);
  await store.change(store.state.memories[0]?.id ?? "", { content: "Four." });
  await store.forget(store.state.memories[1]?.id ?? "");
  await expect.poll(contents).toEqual(["Four.", "One."]);
  leave();
  expect(store.state).toMatchObject({ status: "connecting", memories: [] });
});

test("a refused change is shown with its error", async () => {
  const store = new MemoriesStore(client, { team: "none" });
  const leave = store.subscribe(() => undefined);
  await expect
    .poll(() => store.state)
    .toMatchObject({
      status: "unavailable",
      error: { code: "team_not_found" },
    });
  leave();
});
