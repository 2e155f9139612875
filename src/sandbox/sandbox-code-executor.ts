import * as z from "zod";
import type { CodeBlock, CodeResult } from "../core/code/code-block.ts";
import type { CodeExecutor } from "../core/code/code-executor.ts";
import type { ComponentDefinition } from "../core/component/component.ts";
import { ValueError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { MAX_ATTEMPTS } from "../core/run/retry.ts";
import type { StepAttempt } from "../core/run/turn-context.ts";
import type { SandboxResult } from "./execution-stream.ts";
import { type SandboxAddress, SandboxClient } from "./sandbox-client.ts";
import { SandboxError } from "./sandbox-error.ts";

/** Milliseconds that a cancelled step waits for the sandbox to say that it has stopped the code. */
const STOP_WITHIN_MS = 1_000;

/** Seconds, whole ones, as AutoGen's executors have it. */
export const timeoutSchema = z.number().int().min(1).default(60);

const configSchema = z.object({ timeout: timeoutSchema });

const definition = {
  provider: "troupe.code_executors.SandboxCodeExecutor",
  componentType: "code_executor",
  role: "code_executor",
  version: 1,
} as const;

export interface SandboxCodeExecutorOptions extends SandboxAddress {
  /** Seconds that each block may take, a whole number. Default 60. */
  timeout?: number | undefined;
  /**
   * The session to use wherever the executor is, which stays when it is closed. Default: the team's own, in a Durable
   * Object; elsewhere one that is removed by `close`.
   */
  session?: string | undefined;
}

/**
 * Runs code in a sandbox that is asked over HTTP (docs/sandbox.md).
 *
 * @example
 * const codeExecutor = new SandboxCodeExecutor({ url: "http://127.0.0.1:8788", apiKey: "..." });
 * const runner = new CodeExecutorAgent({ name: "runner", codeExecutor });
 */
export class SandboxCodeExecutor implements CodeExecutor {
  readonly definition: CodeExecutor["definition"] = definition;
  readonly #client: SandboxClient;
  readonly #timeout: number;
  readonly #session: string | undefined;
  /** In use until the executor is closed, where nobody names one. */
  #own: string | undefined;

  /** @throws ValueError for a timeout or an address that is none */
  constructor({ timeout = 60, session, ...address }: SandboxCodeExecutorOptions) {
    if (!Number.isInteger(timeout) || timeout < 1) {
      const message = "must be a whole number of seconds, at least 1";
      throw new ValueError(`timeout ${message}`, { issues: [{ path: "timeout", message }] });
    }
    this.#client = new SandboxClient(address);
    this.#timeout = timeout;
    this.#session = session;
  }

  /**
   * A sandbox that cannot be reached is asked again, by whoever counts the attempts; when the last one fails, that is the
   * result, so that the team goes on.
   *
   * @throws SandboxError when the sandbox refuses, or `retryable` when it should be asked again
   */
  async *executeCodeBlocks(
    blocks: readonly CodeBlock[],
    { attempt, idempotencyKey, session: team, signal }: StepAttempt,
  ): AsyncGenerator<string, CodeResult, void> {
    const session = this.#session ?? team ?? (this.#own ??= crypto.randomUUID());
    const timeoutSeconds = this.#timeout;
    const key = await keyOf(idempotencyKey, { blocks, timeoutSeconds });
    try {
      const execution = { blocks, timeoutSeconds, key, signal };
      return resultOf(yield* this.#client.execute(session, execution));
    } catch (error) {
      if (signal.aborted) await this.#stop(session, key);
      const failed = error instanceof SandboxError ? failedResult(error, attempt) : undefined;
      if (failed === undefined) throw error;
      return failed;
    }
  }

  async close(): Promise<void> {
    const session = this.#own;
    this.#own = undefined;
    if (session !== undefined) await this.#client.deleteSession(session);
  }

  toConfig(): JsonObject {
    return { timeout: this.#timeout };
  }

  /** The code would go on to its end: to the sandbox, who lost the connection comes back. */
  async #stop(session: string, key: string): Promise<void> {
    // If it cannot be told, its time limit stops the code.
    const told = this.#client.cancel(session, key).catch(() => undefined);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, STOP_WITHIN_MS);
    });
    await Promise.race([told, late]);
    clearTimeout(timer);
  }
}

export function sandboxExecutorDefinition(
  sandbox: SandboxAddress | undefined,
): ComponentDefinition<z.infer<typeof configSchema>, SandboxCodeExecutor> {
  return {
    ...definition,
    configSchema,
    fromConfig: ({ timeout }) => new SandboxCodeExecutor({ ...requireSandbox(sandbox), timeout }),
  };
}

/** @throws ValueError when there is none */
export function requireSandbox(sandbox: SandboxAddress | undefined): SandboxAddress {
  if (sandbox !== undefined) return sandbox;
  throw new ValueError(
    "code is run by a sandbox, and this server has none: SANDBOX_URL is not set",
  );
}

/**
 * A step that is made anew, with other code, has the same key as before; and the sandbox takes a key for one request only.
 */
async function keyOf(idempotencyKey: string, request: object): Promise<string> {
  const text = new TextEncoder().encode(`${idempotencyKey}\n${JSON.stringify(request)}`);
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", text));
  return Array.from(hash.subarray(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function resultOf({ exit_code, output, truncated }: SandboxResult): CodeResult {
  return { exit_code, output: truncated ? `${output}\n[There was more output.]` : output };
}

/** What whoever wrote the code should read instead of an error that ends the run. */
function failedResult(error: SandboxError, attempt: number): CodeResult | undefined {
  if (isAboutCode(error)) {
    return { exit_code: 1, output: `The code was not run: ${error.message}` };
  }
  if (!error.retryable || attempt < MAX_ATTEMPTS) return undefined;
  return {
    exit_code: 1,
    output: `The code has no result, and it is not known whether it ran: ${error.message}. It was asked ${MAX_ATTEMPTS} times.`,
  };
}

/** Whether the code is refused (it is too long, or there are too many blocks), not whoever asks. */
function isAboutCode({ status, issues }: SandboxError): boolean {
  const code = issues.length > 0 && issues.every(({ path }) => path.startsWith("code_blocks"));
  return status === 413 || (status === 422 && code);
}
