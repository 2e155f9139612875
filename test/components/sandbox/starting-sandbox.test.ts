import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { StartingSandbox } from "#components/sandbox/starting-sandbox.ts";
import { SandboxClient } from "#components/sandbox/client/sandbox-client.ts";

let server: Server | undefined;

afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((closed) => (server ? server.close(closed) : closed(undefined)));
  server = undefined;
});

/** A port on which a sandbox listens later. */
async function freePort(): Promise<number> {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  await new Promise((closed) => taken.close(closed));
  return port;
}

async function listen(port: number): Promise<void> {
  server = createServer((request, response) => {
    const answer = request.url === "/healthz" ? { status: "ok" } : { languages: [] };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  await once(server.listen(port, "127.0.0.1"), "listening");
}

describe("A sandbox that starts with its server", () => {
  test("gets requests once it answers", async () => {
    const port = await freePort();
    const sandbox = new StartingSandbox({ url: `http://127.0.0.1:${port}` });
    expect(await sandbox.state()).toBe("starting");
    const languages = new SandboxClient(sandbox.address).languages();
    const early = await Promise.race([languages, sandbox.state()]);
    expect(early).toBe("starting");
    await listen(port);
    expect(await languages).toEqual([]);
    expect(await sandbox.state()).toBe("ready");
  });

  test("is off after its time, and requests fail as any other", async () => {
    const port = await freePort();
    const sandbox = new StartingSandbox({ url: `http://127.0.0.1:${port}` }, { withinMs: 0 });
    expect(await sandbox.state()).toBe("off");
    await expect(new SandboxClient(sandbox.address).languages()).rejects.toThrow();
  });

  test("is no longer waited for once it has answered", async () => {
    const port = await freePort();
    await listen(port);
    const sandbox = new StartingSandbox({ url: `http://127.0.0.1:${port}` });
    const client = new SandboxClient(sandbox.address);
    await client.languages();
    server?.closeAllConnections();
    await new Promise((closed) => server?.close(closed));
    await expect(client.languages()).rejects.toThrow();
  });

  test("lets go of a request that is cancelled", async () => {
    const sandbox = new StartingSandbox({ url: `http://127.0.0.1:${await freePort()}` });
    const cancelled = AbortSignal.abort(new Error("cancelled"));
    const asked = sandbox.address.fetch?.("http://127.0.0.1/", { signal: cancelled });
    await expect(asked).rejects.toThrow("cancelled");
  });
});
