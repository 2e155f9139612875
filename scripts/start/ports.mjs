import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const FREE_WITHIN_MS = 2_000;

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
 * A port that nobody listens on.
 *
 * @param {string} host
 */
export async function freePort(host) {
  const probe = createServer().listen(0, host);
  await once(probe, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (probe.address());
  await new Promise((closed) => probe.close(closed));
  return port;
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
