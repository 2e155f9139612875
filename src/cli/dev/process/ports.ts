import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Lower ones are for those that people choose. */
const LOWEST_PORT = 20_000;
/** The lowest port that Linux assigns by itself; elsewhere they begin higher. */
const LOWEST_ASSIGNED_PORT = 32_768;

/**
 * A free port, below those that systems assign by themselves: no other program gets it by chance while its owner is dead and
 * about to be started again.
 */
export async function freePort(host: string): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST_PORT, LOWEST_ASSIGNED_PORT);
    if (await isFree(host, port)) return port;
  }
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((done) => {
    const probe = createServer();
    probe.once("error", () => done(false));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => done(true)));
  });
}
