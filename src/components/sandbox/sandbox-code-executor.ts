import { sha256Hex } from "../../core/hash.ts";
import * as z from "zod";
import type { CodeBlock, CodeImage, CodeResult } from "../../core/code/code-block.ts";
import type { CodeExecutor } from "../../core/code/code-executor.ts";
import type { ComponentDefinition } from "../../core/component/component.ts";
import { ValueError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { RetryPolicy } from "../../core/steps/retry.ts";
import {
  retryOptionsSchema,
  retryConfig,
  retryPolicyOf,
  retrySchema,
} from "../../core/steps/retry-config.ts";
import type { StepAttempt } from "../../core/steps/step-attempt.ts";
import type { OutgoingDependencies } from "../../outgoing/dependencies.ts";
import { Environment, environmentNotes, redacted, variablesSchema } from "./environment.ts";
import type { SandboxResult } from "./client/execution-stream.ts";
import { SandboxClient } from "./client/sandbox-client.ts";
import { type SandboxAddress, sandboxAddressSchema } from "./client/sandbox-connection.ts";
import { SandboxError } from "./client/sandbox-error.ts";
import { SessionFiles } from "./session-files.ts";
import { readImages } from "./shown-images.ts";
import { aNumber, aText, checkOptions, type OptionsSchema } from "../../core/options/options.ts";

/** Milliseconds that a cancelled step waits for the sandbox to stop the code. */
const STOP_WITHIN_MS = 1_000;

/** Whole seconds, as in AutoGen's executors. */
export const timeoutSchema = z.number().int().min(1).default(60);

/** The keys of an executor here; AutoGen's have no `env` and no `retry`. */
export const executorShape = {
  timeout: timeoutSchema,
  env: variablesSchema.optional(),
  retry: retrySchema.nullish(),
};

const configSchema = z.object(executorShape);

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
  /** Environment variables of the code. A value may be `env:NAME` of a secret, looked up for each execution. */
  env?: { readonly [name: string]: string } | undefined;
  /** The time for which code is sent again while the sandbox is away. Default: two minutes. */
  retry?: RetryPolicy | undefined;
}

const optionsSchema: OptionsSchema<SandboxCodeExecutorOptions> = sandboxAddressSchema.extend({
  timeout: aNumber.optional(),
  session: aText.optional(),
  env: z.record(z.string(), aText).optional(),
  retry: retryOptionsSchema.optional(),
});

/**
 * Runs code in a sandbox service over HTTP (docs/sandbox.md).
 *
 * @example
 * const codeExecutor = new SandboxCodeExecutor({ url: "http://127.0.0.1:8788", apiKey: "..." });
 * const runner = new CodeExecutorAgent({ name: "runner", codeExecutor });
 */
export class SandboxCodeExecutor implements CodeExecutor {
  /** @internal */
  static readonly component = sandboxExecutorDefinition;
  readonly definition: CodeExecutor["definition"] = definition;
  readonly retry: RetryPolicy | undefined;
  readonly #client: SandboxClient;
  readonly #files: SessionFiles;
  readonly #timeout: number;
  readonly #session: string | undefined;
  readonly #environment: Environment;
  /** The session of this executor, if neither options nor steps name one. */
  #own: string | undefined;

  /** @throws ValueError for an invalid timeout, URL or name of a variable */
  constructor(options: SandboxCodeExecutorOptions, dependencies: OutgoingDependencies = {}) {
    const checked = checkOptions(optionsSchema, options, "SandboxCodeExecutor");
    const { timeout = 60, session, env = {}, retry, ...address } = checked;
    if (!Number.isInteger(timeout) || timeout < 1) {
      const message = "must be a whole number of seconds, at least 1";
      throw new ValueError(`timeout ${message}`, { issues: [{ path: "timeout", message }] });
    }
    this.#client = new SandboxClient(address);
    this.#files = new SessionFiles(address);
    this.#timeout = timeout;
    this.retry = retry;
    this.#session = session;
    this.#environment = new Environment(env, address.url, dependencies);
  }

  /**
   * @throws SandboxError when the sandbox refuses the request, or `retryable` when it is unavailable; SecretError for a secret of the
   * environment that it may not have
   */
  async *executeCodeBlocks(
    blocks: readonly CodeBlock[],
    { idempotencyKey, session: team, signal, trace }: StepAttempt,
  ): AsyncGenerator<string, CodeResult, void> {
    const session = this.#session ?? team ?? (this.#own ??= crypto.randomUUID());
    const timeoutSeconds = this.#timeout;
    const { values: env, redact } = this.#environment.open();
    const names = Object.keys(env).toSorted();
    const key = await keyOf(idempotencyKey, {
      blocks,
      timeoutSeconds,
      ...(names.length > 0 && { env: names }),
    });
    try {
      const execution = { blocks, env, timeoutSeconds, key, signal, trace };
      const output = this.#client.execute(session, execution);
      const result = yield* names.length > 0 ? redacted(output, redact) : output;
      const images = await readImages(this.#files, session, result.files);
      return resultOf(result, images, redact);
    } catch (error) {
      if (signal.aborted) await this.#stop(session, key);
      if (error instanceof SandboxError) error.message = redact(error.message);
      if (!(error instanceof SandboxError) || !isAboutCode(error)) throw error;
      return { exit_code: 1, output: `The code was not run: ${error.message}` };
    }
  }

  async close(): Promise<void> {
    const session = this.#own;
    this.#own = undefined;
    if (session !== undefined) await this.#client.deleteSession(session);
  }

  toConfig(): JsonObject {
    const { variables } = this.#environment;
    return {
      timeout: this.#timeout,
      ...(Object.keys(variables).length > 0 && { env: variables }),
      ...(this.retry && { retry: retryConfig(this.retry) }),
    };
  }

  /** Cancels explicitly: after a mere disconnect the sandbox lets code continue, for a client that reconnects. */
  async #stop(session: string, key: string): Promise<void> {
    // If the request fails, the time limit stops the code.
    const cancelled = this.#client.cancel(session, key).catch(() => undefined);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, STOP_WITHIN_MS);
    });
    await Promise.race([cancelled, late]);
    clearTimeout(timer);
  }
}

interface SandboxDependencies extends OutgoingDependencies {
  sandbox: SandboxAddress | undefined;
}

function sandboxExecutorDefinition(
  dependencies: SandboxDependencies,
): ComponentDefinition<z.infer<typeof configSchema>, SandboxCodeExecutor> {
  const { sandbox } = dependencies;
  return {
    ...definition,
    configSchema,
    fromConfig: ({ timeout, env, retry }) =>
      new SandboxCodeExecutor(
        { ...requireSandbox(sandbox), timeout, env, retry: retryPolicyOf({ retry }) },
        dependencies,
      ),
    notes: ({ env }) => environmentNotes(env, sandbox, dependencies),
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

function resultOf(
  { exit_code, output, truncated, files }: SandboxResult,
  images: CodeImage[],
  redact: (text: string) => string,
): CodeResult {
  const displayed = redact(output);
  return {
    exit_code,
    output: truncated ? `${displayed}\n[There was more output.]` : displayed,
    ...(files.length > 0 && { files: files.map(redact) }),
    ...(images.length > 0 && {
      images: images.map(({ path, data }) => ({ path: redact(path), data })),
    }),
  };
}

/** True if the code itself is refused: it is too long, or has too many blocks. */
function isAboutCode({ status, issues }: SandboxError): boolean {
  const code = issues.length > 0 && issues.every(({ path }) => path.startsWith("code_blocks"));
  return status === 413 || (status === 422 && code);
}
