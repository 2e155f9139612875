import { execFile } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { EchoServer } from "../support/echo-server.ts";
import { EffectsServer } from "./harness/effects-server.ts";

const FAILING = `
  import { Runner } from "./test/chaos/runner.ts";
  async function* cases() {
    yield { name: "first", run: async () => {
      Promise.reject(new Error("nobody waits for this"));
      await new Promise((resolve) => setTimeout(resolve, 50));
      return [];
    } };
    yield { name: "second", run: async () => ["it is wrong"] };
  }
  using runner = new Runner(1, "");
  await runner.run(cases());
  console.log(runner.passed + " passed, " + runner.failed + " failed");
`;

it("the harness reports an unhandled error as a failure and continues", async () => {
  const args = ["--input-type=module-typescript", "--eval", FAILING];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toContain("FAIL the harness: unhandled error\n     Error: nobody waits for this");
  expect(stdout).toContain("running: first\n");
  expect(stdout).toContain("FAIL second\n     it is wrong\n");
  // The totals while it runs, and those at the end.
  expect(stdout).toMatch(/so far: 1 passed, 2 failed\n1 passed, 2 failed\n$/);
});

const BROKEN = `
  import { Runner } from "./test/chaos/runner.ts";
  async function* broken() {
    yield { name: "first", run: async () => [] };
    throw new Error("the next case cannot be made");
  }
  async function* others() {
    yield { name: "other", run: async () => [] };
  }
  using runner = new Runner(2, "");
  for (const cases of [broken(), others()]) await runner.run(cases);
  console.log(runner.passed + " passed, " + runner.failed + " failed");
`;

it("the harness reports cases that cannot be made as a failure and continues with the next kind", async () => {
  const args = ["--input-type=module-typescript", "--eval", BROKEN];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toContain("Error: the next case cannot be made");
  expect(stdout).toMatch(/\n2 passed, 1 failed\n$/);
});

/** Sends half a request and breaks the connection, as a workerd that is killed does. */
async function breakOff(url: string): Promise<void> {
  const { port, pathname } = new URL(url);
  const socket = connect(Number(port), "127.0.0.1");
  socket.write(`POST ${pathname} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100\r\n\r\nhalf`);
  // The server has read the head when it answers the second request on a connection of its own.
  await (await fetch(url, { method: "POST", body: "whole" })).text();
  socket.resetAndDestroy();
  await once(socket, "close");
}

it("the servers of the harness survive a client that is killed in the middle of a request", async () => {
  const effects = new EffectsServer();
  await effects.listen();
  await using echo = await EchoServer.start();
  for (const url of [effects.url, `http://127.0.0.1:${echo.port}/`]) {
    await breakOff(url);
    expect((await fetch(url, { method: "POST", body: "after" })).status).toBe(200);
  }
  expect(effects.calls.map(({ name }) => name)).toEqual(["whole", "after"]);
  expect(echo.requests.map(({ body }) => body)).toEqual(["whole", "after"]);
  await effects.close();
});
