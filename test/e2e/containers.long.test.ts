// Code in containers of Cloudflare: the object that has one per session, over a stand-in with real sandboxes.
import { afterAll, beforeAll, expect, test } from "vitest";
import { ContainerHost } from "../support/container-host.ts";
import { jsonInit } from "../support/http-app.ts";
import { TestWorker } from "../support/worker.ts";

let host: ContainerHost;
let worker: TestWorker;

beforeAll(async () => {
  host = await ContainerHost.start();
  worker = await TestWorker.start(
    { CONTROL: host.url, CONTAINER_SLEEP_SECONDS: "1", SECRETS_KEY: btoa("k".repeat(32)) },
    { entry: "test/e2e/worker/containers.ts", containers: true },
  );
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

const runner = {
  provider: "autogen_agentchat.agents.CodeExecutorAgent",
  config: {
    name: "runner",
    code_executor: { provider: "troupe.code_executors.SandboxCodeExecutor", config: {} },
  },
};

async function create(id: string): Promise<void> {
  const response = await worker.fetch("/v1/teams", jsonInit({ id, component: runner }));
  expect(response.status, await response.text()).toBe(201);
}

/** The output of Python in a team. */
async function python(team: string, code: string): Promise<unknown> {
  const task = `\`\`\`python\n${code}\n\`\`\``;
  const response = await worker.fetch(`/v1/teams/${team}/runs?wait=60`, jsonInit({ task }));
  const run = (await response.json()) as { result: { messages: { content: unknown }[] } };
  return run.result.messages.at(-1)?.content;
}

interface Page {
  files: { path: string }[];
  next_cursor: string | null;
}

function lastSession(): string {
  return host.starts.findLast(({ name }) => name.startsWith("session "))?.name ?? "";
}

const sleep = () => expect.poll(() => host.running.size, { timeout: 60_000 }).toBe(0);

test("each team has a container of its own, without network", async () => {
  expect(await (await worker.fetch("/healthz")).json()).toEqual({
    status: "ok",
    code: "containers",
  });
  await create("a");
  await create("b");
  expect(await python("a", 'open("kept.txt", "w").write("of a")\nprint("written")')).toBe(
    "written\n",
  );
  expect(await python("b", 'import os\nprint(os.listdir("."))')).toBe("[]\n");
  const starts = host.starts.filter(({ name }) => name.startsWith("session "));
  expect(new Set(starts.map(({ name }) => name)).size).toBe(2);
  for (const { options } of starts) {
    expect(options).toMatchObject({
      image: "registry.example/sandbox@sha256:00",
      enableInternet: false,
      instance: "standard-1",
      env: { SANDBOX_NETWORK: "0" },
    });
  }
  expect(new Set(starts.map(({ options }) => options.env.SANDBOX_KEY)).size).toBe(2);
});

test("files are listed in pages", async () => {
  const page = async (query: string): Promise<Page> =>
    (await worker.fetch(`/v1/teams/a/files?${query}`)).json() as Promise<Page>;
  await python("a", 'open("other.txt", "w").write("of a, too")');
  const first = await page("limit=1");
  expect(first).toMatchObject({ files: [{ path: "kept.txt" }], next_cursor: expect.any(String) });
  const rest = await page(`limit=1&cursor=${encodeURIComponent(first.next_cursor ?? "")}`);
  expect(rest).toMatchObject({ files: [{ path: "other.txt" }] });
});

test("a container that was idle is stored and stopped, and starts with its files", async () => {
  await sleep();
  const before = host.starts.length;
  expect(await python("a", 'print(open("kept.txt").read())')).toBe("of a\n");
  const started = host.starts.slice(before).filter(({ name }) => name.startsWith("session "));
  expect(started).toMatchObject([
    { options: { containerSnapshot: { id: expect.any(String) as string } } },
  ]);
  expect(started[0]?.options).not.toHaveProperty("image");
});

test("a container that crashed starts again", async () => {
  const name = lastSession();
  const crashed = async (): Promise<boolean> => {
    await python("a", "print(1)");
    return host.crash(name);
  };
  await expect.poll(crashed, { timeout: 120_000 }).toBe(true);
  expect(await python("a", 'print(open("kept.txt").read())')).toBe("of a\n");
});

test("a session whose snapshot is gone starts with an empty workspace", async () => {
  await sleep();
  host.forgetSnapshots();
  expect(await python("a", 'import os\nprint(os.listdir("."))')).toBe("[]\n");
});

test("a container goes with its team", async () => {
  await create("c");
  await python("c", 'open("c.txt", "w").write("c")');
  const name = lastSession();
  expect((await worker.fetch("/v1/teams/c", { method: "DELETE" })).status).toBe(204);
  await expect.poll(() => host.running.has(name), { timeout: 60_000 }).toBe(false);
});
