import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const FREE_WITHIN_MS = 2_000;
const LOWEST_PORT = 10_000;
/** On Linux; elsewhere they begin higher. */
const LOWEST_GIVEN_PORT = 32_768;

/**
 * Why nobody can listen there, undefined when one can. A server that was killed outright takes a moment to let go of its
 * port.
 *
 * @param {string} host
 * @param {number} port
 */
export async function whyNotFree(host, port) {
  const deadline = Date.now() + FREE_WITHIN_MS;
  for (;;) {
    const error = await tryToListen(host, port);
    if (error?.code !== "EADDRINUSE" || Date.now() > deadline) return error;
    await sleep(100);
  }
}

/**
 * A port that nobody listens on, below those that systems give to whoever asks for any: nobody gets it by chance while its
 * owner is dead and about to be started again.
 *
 * @param {string} host
 */
export async function freePort(host) {
  for (;;) {
    const port = randomInt(LOWEST_PORT, LOWEST_GIVEN_PORT);
    if ((await tryToListen(host, port)) === undefined) return port;
  }
}

/**
 * @param {string} host
 * @param {number} port
 * @returns {Promise<NodeJS.ErrnoException | undefined>}
 */
function tryToListen(host, port) {
  return new Promise((done) => {
    const probe = createServer();
    probe.once("error", done);
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => done(undefined)));
  });
}
