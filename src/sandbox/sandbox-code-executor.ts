import { sha256Hex } from "../core/sha256.ts";
import * as z from "zod";
import type { CodeBlock, CodeResult } from "../core/code/code-block.ts";
import type { CodeExecutor } from "../core/code/code-executor.ts";
import type { ComponentDefinition } from "../core/component/component.ts";
import { ValueError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { MAX_ATTEMPTS } from "../core/run/retry.ts";
import type { StepAttempt } from "../core/run/turn-context.ts";
import type { SandboxResult } from "./execution-stream.ts";
import { SandboxClient } from "./sandbox-client.ts";
import type { SandboxAddress } from "./sandbox-connection.ts";
import { SandboxError } from "./sandbox-error.ts";

/** Milliseconds that a cancelled step waits for the sandbox to stop the code. */
const STOP_WITHIN_MS = 1_000;

/** Whole seconds, as in AutoGen's executors. */
export const timeoutSchema = z.number().int().min(1).default(60);

const configSchema = z.object({ timeout: timeoutSchema });

const definition = {
  provider: "troupe.code_executors.SandboxCodeExecutor",
  componentType: "code_executor",
  role: "code_executor",
  version: 1,
} as const;

export interface SandboxCodeExecutorOptions extends SandboxAddress {
  /** The time limit of each block, in whole seconds. Default 60. */
  timeout?: number | undefined;
  /**
   * The name of a permanent session. Default: the session of the team, in a Durable Object; elsewhere a session that `close`
   * deletes.
   */
  session?: string | undefined;
}

/**
 * Runs code in a sandbox service over HTTP (docs/sandbox.md).
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
  /** The session of this executor, if neither options nor steps name one. */
  #own: string | undefined;

  /** @throws ValueError for an invalid timeout or URL */
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
   * An unavailable sandbox is a retryable error, so the caller makes more attempts; the failure of the last one is a result,
   * so that the team continues.
   *
   * @throws SandboxError when the sandbox refuses the request, or `retryable` when it is unavailable
   */
  async *executeCodeBlocks(
    blocks: readonly CodeBlock[],
    { attempt, idempotencyKey, session: team, signal, trace }: StepAttempt,
  ): AsyncGenerator<string, CodeResult, void> {
    const session = this.#session ?? team ?? (this.#own ??= crypto.randomUUID());
    const timeoutSeconds = this.#timeout;
    const key = await keyOf(idempotencyKey, { blocks, timeoutSeconds });
    try {
      const execution = { blocks, timeoutSeconds, key, signal, trace };
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

  /** Cancels explicitly: after a mere disconnect the sandbox lets code continue, for a client that reconnects. */
  async #stop(session: string, key: string): Promise<void> {
    // If the request fails, the time limit stops the code.
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

/** @throws ValueError when no sandbox is configured */
export function requireSandbox(sandbox: SandboxAddress | undefined): SandboxAddress {
  if (sandbox !== undefined) return sandbox;
  throw new ValueError("code runs in a sandbox, and this server has none: set SANDBOX_URL");
}

/**
 * A step that runs again may have other code under the same key, but the sandbox accepts a key for one request only.
 */
async function keyOf(idempotencyKey: string, request: object): Promise<string> {
  const hash = await sha256Hex(`${idempotencyKey}\n${JSON.stringify(request)}`);
  return hash.slice(0, 32);
}

function resultOf({ exit_code, output, truncated, files }: SandboxResult): CodeResult {
  return {
    exit_code,
    output: truncated ? `${output}\n[There was more output.]` : output,
    ...(files.length > 0 && { files }),
  };
}

/** The result for the agent, if the error should not end the run. */
function failedResult(error: SandboxError, attempt: number): CodeResult | undefined {
  if (isAboutCode(error)) {
    return { exit_code: 1, output: `The code was not run: ${error.message}` };
  }
  if (!error.retryable || attempt < MAX_ATTEMPTS) return undefined;
  return {
    exit_code: 1,
    output: `The code has no result, and it is not known whether it ran: ${error.message}, after ${MAX_ATTEMPTS} attempts.`,
  };
}

/** Whether the code itself is refused: it is too long, or has too many blocks. */
function isAboutCode({ status, issues }: SandboxError): boolean {
  const code = issues.length > 0 && issues.every(({ path }) => path.startsWith("code_blocks"));
  return status === 413 || (status === 422 && code);
}
