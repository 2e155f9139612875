// Interpreters that long code keeps busy, and sessions that want to run something beside it.
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SandboxCodeExecutor, sandboxPython, type StepAttempt } from "troupe";
import { functionTool, loaded } from "../../test/core/python/support.ts";
import { ROOT } from "../../test/support/npm-start.ts";
import { Sandbox } from "../../test/support/sandbox.ts";
import { readUntil } from "../../test/support/read-until.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await Sandbox.start({
    settings: {
      SANDBOX_ISOLATION: "wasm",
      SANDBOX_CACHE: join(ROOT, "node_modules/.cache/troupe-sandbox"),
      SANDBOX_POOL: "2",
      SANDBOX_CONCURRENCY: "1",
      SANDBOX_RESERVED: "1",
      SANDBOX_SHORT_SECONDS: "1",
      SANDBOX_MAX_SESSION_WAITING: "2",
    },
  });
});
afterAll(() => sandbox[Symbol.asyncDispose]());

/** Runs Python in a session and collects what the client is shown. */
function run(session: string, code: string) {
  const { url, key: apiKey } = sandbox;
  const executor = new SandboxCodeExecutor({ url, apiKey, session, timeout: 300 });
  const { signal } = new AbortController();
  const attempt: StepAttempt = { attempt: 1, idempotencyKey: session, signal };
  const running = executor.executeCodeBlocks([{ language: "python", code }], attempt);
  let shown = "";
  const result = (async () => {
    for (;;) {
      const next = await running.next();
      if (next.done) return next.value;
      shown += next.value;
    }
  })();
  let ended = false;
  const end = (): void => void (ended = true);
  result.then(end, end);
  const shows = (pattern: RegExp): Promise<void> =>
    expect.poll(() => shown, { interval: 10 }).toMatch(pattern);
  return { result, shows, ended: () => ended };
}

const remove = (session: string): Promise<Response> =>
  sandbox.request(`/v1/sessions/${session}`, { method: "DELETE" });

const LOOP = "print('begun', flush=True)\nwhile True: pass";

test("long code of some sessions delays others only for a moment", async () => {
  const busy0 = run("busy0", LOOP);
  await busy0.shows(/begun/);
  const busy1 = run("busy1", `import os\nprint(os.listdir())\nopen('left', 'w')\n${LOOP}`);
  await busy1.shows(/begun/);
  const busy2 = run("busy2", LOOP);
  await busy1.shows(/begun\n\n\[Interrupted, because other sessions wait too\./);
  await busy2.shows(/begun/);

  expect(await run("bystander", "print(1)").result).toEqual({ exit_code: 0, output: "1\n" });
  const python = sandboxPython({ url: sandbox.url, apiKey: sandbox.key });
  const tool = await loaded(python, functionTool("def f(a: int) -> int:\n    return a\n"));
  expect(tool.schema.parameters).toMatchObject({ required: ["a"] });
  expect(busy0.ended()).toBe(false);

  await remove("busy0");
  await busy1.shows(/again from its beginning\.\]\n\[\]\nbegun/);
  await Promise.all(["busy1", "busy2"].map(remove));
  expect(await busy1.result).toEqual({
    exit_code: 125,
    output: "[]\nbegun\nThe code was cancelled.\n",
  });
  expect((await busy0.result).exit_code).toBe(125);
});

test("a session that waits for its own code gets a notice, and may not send requests without end", async () => {
  const execute = (key: string): Promise<Response> =>
    sandbox.execute("own", [["python", LOOP]], { key, headers: { accept: "text/event-stream" } });
  await execute("one");
  const second = (await execute("two")).body!.pipeThrough(new TextDecoderStream()).getReader();
  await execute("three");
  const refused = await execute("four");
  expect([refused.status, await refused.json()]).toMatchObject([429, { code: "too_many_waiting" }]);
  expect((await second.read()).value).toBe('event: waiting\ndata: {"reason":"session"}\n\n');
  await sandbox.request("/v1/sessions/own/executions/one", { method: "DELETE" });
  await readUntil(second, /event: running\ndata: \{\}\n\n/);
  await remove("own");
});
