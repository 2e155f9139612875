import { createServer } from "node:net";

/** Below the ports that systems give to whoever asks for any (from 32768 on Linux, from 49152 elsewhere). */
const FIRST_PORT = 12_000;
const PORTS_PER_WORKER = 1000;
let portsTried = 0;

/** A port nobody listens on, and nobody will by chance: each of vitest's workers has its own range. */
export async function freePort(): Promise<number> {
  const first = FIRST_PORT + (Number(process.env.VITEST_POOL_ID ?? 0) % 16) * PORTS_PER_WORKER;
  for (;;) {
    const port = first + (portsTried++ % PORTS_PER_WORKER);
    if (await isFree(port)) return port;
  }
}

/** Whether nobody listens on the port. */
export async function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  return new Promise((answer) => {
    probe.once("error", () => answer(false));
    probe.listen({ host: "127.0.0.1", port }, () => probe.close(() => answer(true)));
  });
}
