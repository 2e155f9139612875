import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";

/** The dojo's mock model with its fixtures, as its own tests start it. */
export class MockModel implements AsyncDisposable {
  readonly url: string;
  readonly #end: () => Promise<void>;

  private constructor(url: string, end: () => Promise<void>) {
    this.url = url;
    this.#end = end;
  }

  static async start(e2e: string): Promise<MockModel> {
    const port = await freePort();
    const child = spawn(join(e2e, "../../node_modules/.bin/tsx"), ["aimock-standalone.ts"], {
      cwd: e2e,
      env: { ...process.env, AIMOCK_PORT: String(port) },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(child, "exit");
    let output = "";
    await new Promise<void>((resolve, reject) => {
      child.on("error", reject);
      void ended.then(() => reject(new Error(`the mock model has ended: ${output}`)));
      child.stdout.on("data", (text: Buffer) => {
        output += text.toString();
        if (output.includes("aimock is running")) resolve();
      });
    });
    return new MockModel(`http://127.0.0.1:${port}/v1`, async () => {
      child.kill();
      await ended;
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#end();
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address !== "object" || address === null) throw new Error("no port is free");
  return address.port;
}
