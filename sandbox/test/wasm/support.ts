import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { BlockLimits, BlockResult, Isolation, Runner } from "../../runner.ts";
import { WasmIsolation } from "../../wasm/isolation.ts";
import { ROOT } from "../../../test/support/npm-start.ts";

/** Where the snapshot is that the service finds, too: it is made once for a checkout. */
export const CACHE = join(ROOT, "node_modules/.cache/troupe-sandbox");

export async function startIsolation(poolSize: number): Promise<Isolation> {
  const isolation = new WasmIsolation({ cacheDirectory: CACHE, poolSize });
  await isolation.start();
  return isolation;
}

export const LIMITS: BlockLimits = {
  timeoutMs: 10_000,
  memoryBytes: 128_000_000,
  workspaceBytes: 10_000_000,
  workspaceFiles: 1000,
  temporaryBytes: 10_000_000,
};

export interface Ran extends BlockResult {
  output: string;
}

/** The most a test keeps of an output. */
const KEPT_CHARACTERS = 100_000;

/** Runs a block and collects what it prints. */
export async function run(
  runner: Runner,
  language: "python" | "sh",
  code: string,
  {
    signal = new AbortController().signal,
    onOutput,
    ...limits
  }: Partial<BlockLimits> & { signal?: AbortSignal; onOutput?: (text: string) => void } = {},
): Promise<Ran> {
  let output = "";
  const decoder = new TextDecoder();
  const result = await runner.run(
    { language, code },
    {
      limits: { ...LIMITS, ...limits },
      signal,
      onOutput(bytes) {
        const text = decoder.decode(bytes, { stream: true });
        if (output.length < KEPT_CHARACTERS) output += text;
        onOutput?.(text);
      },
    },
  );
  return { ...result, output };
}

type RunOptions = Parameters<typeof run>[3];

/** One session of the isolation, which the tests of a file share as long as its process lives, each with an empty workspace. */
export class SharedSession {
  #isolation: Isolation | undefined;
  #runner: Runner | undefined;

  /** Starts and ends it with the file's tests. */
  static forTests(): SharedSession {
    const session = new SharedSession();
    beforeAll(() => session.#start());
    afterAll(() => session.#close());
    // A block that is killed takes its process with it.
    beforeEach(async () => {
      if (!session.runner.usable) await session.renew();
    });
    afterEach(async () => {
      if (session.runner.usable) await session.shell("rm -rf /workspace/* /workspace/.??*");
    });
    return session;
  }

  get isolation(): Isolation {
    if (this.#isolation === undefined) throw new Error("The session has not started.");
    return this.#isolation;
  }

  get runner(): Runner {
    if (this.#runner === undefined) throw new Error("The session has not started.");
    return this.#runner;
  }

  /** Continues with another process. */
  async renew(): Promise<void> {
    this.#runner = await this.isolation.runner();
  }

  python(code: string, options?: RunOptions): Promise<Ran> {
    return run(this.runner, "python", code, options);
  }

  shell(code: string, options?: RunOptions): Promise<Ran> {
    return run(this.runner, "sh", code, options);
  }

  async #start(): Promise<void> {
    this.#isolation = await startIsolation(1);
    await this.renew();
  }

  async #close(): Promise<void> {
    await this.#runner?.close();
    await this.#isolation?.close();
  }
}
