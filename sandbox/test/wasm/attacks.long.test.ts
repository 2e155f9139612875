import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, test, vi } from "vitest";
import type { Isolation, Runner } from "../../runner.ts";
import type { Attack, Canaries } from "./attacks/attack.ts";
import { HOST } from "./attacks/host.ts";
import { JAVASCRIPT } from "./attacks/javascript.ts";
import { RUNNER } from "./attacks/runner.ts";
import { SHARE } from "./attacks/share.ts";
import { type Ran, run, startIsolation } from "./support.ts";

/** Attacks at the same time, each from a session of its own. */
const LANES = 2;

/** Small, so that what has no end is at it soon. */
const LIMITS = { memoryBytes: 32_000_000, workspaceBytes: 5_000_000, workspaceFiles: 200 };

/** For attacks that have to be ended by the clock; others may take longer where the machine is busy. */
const SHORT_MS = 300;
const LONG_MS = 30_000;

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const secret = `secret ${randomUUID()}`;
let isolation: Isolation;
let directory: string;
let server: Server;
let visitors = 0;
let canaries: Canaries;

beforeAll(async () => {
  // In the environment of what starts the processes that run code.
  process.env.SANDBOX_TEST_CANARY = secret;
  directory = await mkdtemp(join(tmpdir(), "attacks-"));
  await writeFile(join(directory, "secret.txt"), secret);
  server = createServer((socket) => {
    visitors += 1;
    socket.destroy();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  canaries = {
    file: join(directory, "secret.txt"),
    directory,
    port: address.port,
    pid: process.pid,
  };
  isolation = await startIsolation(LANES);
});

afterAll(async () => {
  delete process.env.SANDBOX_TEST_CANARY;
  await isolation?.close();
  server?.close();
  await rm(directory, { recursive: true, force: true });
});

/** A session that attacks come from, and another that must be served meanwhile. */
class Lane {
  #attacker: Runner | undefined;
  /** Paths that the last attack made. */
  #left: string[] = [];
  readonly #bystander: Runner;

  constructor(bystander: Runner) {
    this.#bystander = bystander;
  }

  /** Runs the attack, and what is to be run after it. */
  async attack({ language, code, endedBy, after }: Attack): Promise<{ ran: Ran; later?: Ran }> {
    const timeoutMs = endedBy === "timeout" ? SHORT_MS : LONG_MS;
    const ran = await run(await this.#ready(), language, code(canaries), {
      ...LIMITS,
      timeoutMs,
    });
    this.#left = ran.change.set.map(({ path }) => path);
    if (after === undefined) return { ran };
    await wait(60);
    return { ran, later: await run(await this.#ready(), "python", after.code) };
  }

  /** What the other session is answered; what the attacks left goes, for the next. */
  async aftermath(): Promise<Ran> {
    const other = await run(this.#bystander, "python", "print(1)", { timeoutMs: LONG_MS });
    if (this.#attacker?.usable === true && this.#left.length > 0)
      await this.#attacker.update({ set: [], removed: this.#left });
    return other;
  }

  async close(): Promise<void> {
    await Promise.all([this.#attacker?.close(), this.#bystander.close()]);
  }

  async #ready(): Promise<Runner> {
    if (this.#attacker?.usable === true) return this.#attacker;
    await this.#attacker?.close();
    return (this.#attacker = await isolation.runner());
  }
}

describe.concurrent("an attack fails", () => {
  const lanes: Lane[] = [];
  const waiting: (() => void)[] = [];

  beforeAll(async () => {
    for (let lane = 0; lane < LANES; lane++) {
      const bystander = await isolation.runner();
      await bystander.update({
        set: [{ path: "secret.txt", type: "file", content: Buffer.from(secret), mode: 0o644 }],
        removed: [],
      });
      lanes.push(new Lane(bystander));
    }
  });

  afterAll(() => Promise.all(lanes.map((lane) => lane.close())));

  async function inLane(act: (lane: Lane) => Promise<void>): Promise<void> {
    while (lanes.length === 0) await new Promise<void>((done) => waiting.push(done));
    const lane = lanes.pop() as Lane;
    try {
      await act(lane);
    } finally {
      lanes.push(lane);
      waiting.shift()?.();
    }
  }

  test.for([...HOST, ...SHARE, ...JAVASCRIPT, ...RUNNER])(
    "$language: $name",
    async (attack, { expect }) => {
      await inLane(async (lane) => {
        const { ran, later } = await lane.attack(attack);
        const other = await lane.aftermath();
        expect(ran.output).not.toContain(secret);
        expect(ran.output).toMatch(attack.output ?? /^/);
        if (attack.exitCode !== undefined) expect(ran.exitCode).toBe(attack.exitCode);
        if (attack.endedBy !== undefined) expect(ran.endedBy).toBe(attack.endedBy);
        if (attack.after !== undefined) expect(later?.output).toMatch(attack.after.output);
        expect(other).toMatchObject({ exitCode: 0, output: "1\n" });
        expect(visitors).toBe(0);
        expect(await readdir(directory)).toEqual(["secret.txt"]);
      });
    },
  );
});
