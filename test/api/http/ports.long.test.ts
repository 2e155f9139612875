import { request } from "node:http";
import { expect, test } from "vitest";
import { listeningPorts } from "../../support/listening-ports.ts";
import { TestWorker } from "../../support/worker.ts";

/** The status of a request of a page in a browser. */
function statusOf(port: number, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request({ host: "127.0.0.1", port, path: "/v1/teams", headers })
      .on("response", (response) => resolve(response.resume().statusCode))
      .on("error", reject)
      .end();
  });
}

test.runIf(process.platform === "linux")(
  "a Worker of the tests opens one port, which refuses foreign pages",
  async () => {
    const before = new Set(listeningPorts(process.pid));
    await using worker = await TestWorker.start();
    expect((await worker.fetch("/v1/templates")).status).toBe(200);
    const opened = listeningPorts(process.pid).filter((port) => !before.has(port));
    expect(opened).toEqual([Number(new URL(await worker.origin).port)]);
    for (const port of opened) {
      expect(await statusOf(port, { origin: "https://evil.example" })).toBe(403);
      expect(await statusOf(port, { host: "evil.example" })).toBe(403);
    }
  },
);
