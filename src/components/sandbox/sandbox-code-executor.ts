import { sha256Hex } from "../../core/hash.ts";
import * as z from "zod";
import type { CodeBlock, CodeImage, CodeResult } from "../../core/code/code-block.ts";
import type { CodeExecutor } from "../../core/code/code-executor.ts";
import type { JavaScriptHost } from "../../core/code/javascript-host.ts";
import {
  type ComponentDefinition,
  type Note,
  withoutNulls,
} from "../../core/component/component.ts";
import { ValueError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { TaskFile } from "../../core/messages/task-files.ts";
import type { RetryPolicy } from "../../core/steps/retry.ts";
import {
  retryOptionsSchema,
  retryConfig,
  retryPolicyOf,
  retrySchema,
} from "../../core/steps/retry-config.ts";
import type { StepAttempt } from "../../core/steps/step-attempt.ts";
import type { OutgoingDependencies } from "../../outgoing/dependencies.ts";
import {
  Environment,
  environmentNotes,
  redacted,
  type Variables,
  variablesSchema,
} from "./environment.ts";
import type { SandboxResult } from "./client/execution-stream.ts";
import { SandboxClient } from "./client/sandbox-client.ts";
import { type SandboxAddress, sandboxAddressSchema } from "./client/sandbox-connection.ts";
import { SandboxError } from "./client/sandbox-error.ts";
import { RoutedCodeExecutor } from "./routed-code-executor.ts";
import { SandboxFolder } from "./sandbox-folder.ts";
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
  readonly #address: SandboxAddress;
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
    this.#address = address;
    this.#client = new SandboxClient(address);
    this.#files = new SessionFiles(address);
    this.#timeout = timeout;
    this.retry = retry;
    this.#session = session;
    this.#environment = new Environment(env, address.url, dependencies);
  }

  /**
   * Runs blocks, which can read the files of the run's task below `$SANDBOX_FOLDERS/task` where the sandbox has folders.
   *
   * @throws SandboxError when the sandbox refuses the request, or `retryable` when it is unavailable; SecretError for a secret of the
   * environment that it may not have
   */
  async *executeCodeBlocks(
    blocks: readonly CodeBlock[],
    { idempotencyKey, session: team, files, signal, trace }: StepAttempt,
  ): AsyncGenerator<string, CodeResult, void> {
    const session = this.#session ?? team ?? (this.#own ??= crypto.randomUUID());
    const timeoutSeconds = this.#timeout;
    const { values: env, redact } = this.#environment.open();
    const names = Object.keys(env).toSorted();
    const folder = await this.#taskFolder(files, signal);
    const key = await keyOf(idempotencyKey, {
      blocks,
      timeoutSeconds,
      ...(names.length > 0 && { env: names }),
      ...(folder && { folder: folder.session }),
    });
    try {
      const execution = { blocks, env, timeoutSeconds, key, signal, trace };
      const output =
        folder === undefined
          ? this.#client.execute(session, execution)
          : folder.execute(this.#client, this.#address, session, execution);
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

  /** Undefined for a task without files, and in a sandbox without folders. */
  async #taskFolder(
    files: readonly TaskFile[] = [],
    signal: AbortSignal,
  ): Promise<SandboxFolder | undefined> {
    if (files.length === 0 || !(await this.#client.takesFolders(signal))) return undefined;
    return SandboxFolder.ofTask(files);
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

/** The parts of a server that the executors of component JSON use. */
export interface ExecutorDependencies extends OutgoingDependencies {
  sandbox: SandboxAddress | undefined;
  /** Runs the JavaScript of this server's components; its blocks, too, where it takes them from the sandbox. */
  javascript?: JavaScriptHost | undefined;
}

function sandboxExecutorDefinition(
  dependencies: ExecutorDependencies,
): ComponentDefinition<z.infer<typeof configSchema>, CodeExecutor> {
  return {
    ...definition,
    configSchema,
    fromConfig: (config) =>
      executorOf(dependencies, definition, config, ({ timeout, env, retry }, sandbox) => {
        const options = { ...sandbox, timeout, env, retry: retryPolicyOf({ retry }) };
        return new SandboxCodeExecutor(options, dependencies);
      }),
    notes: (config) => executorNotes(dependencies, config),
  };
}

/**
 * The executor of a config: the sandbox's alone, or one that leaves JavaScript to dynamic Workers.
 *
 * @throws ValueError when no code runs here
 */
export function executorOf<Config extends { timeout: number }>(
  { sandbox, javascript }: ExecutorDependencies,
  owner: CodeExecutor["definition"],
  config: Config,
  inSandbox: (config: Config, sandbox: SandboxAddress) => CodeExecutor,
): CodeExecutor {
  const blocks = javascript?.blocks?.(config.timeout);
  if (blocks === undefined) return inSandbox(config, requireSandbox(sandbox));
  return new RoutedCodeExecutor({
    javascript: blocks,
    sandbox: sandbox && inSandbox(config, sandbox),
    definition: owner,
    config: withoutNulls(config),
  });
}

/** Remarks on where code runs, and on the environment of a config. */
export function executorNotes(
  dependencies: ExecutorDependencies,
  { env }: { env?: Variables | undefined },
): Note[] {
  const { sandbox, javascript } = dependencies;
  if (javascript?.blocks === undefined) return environmentNotes(env, sandbox, dependencies);
  const place: Note = {
    path: "provider",
    message:
      sandbox === undefined
        ? `only JavaScript runs here, ${javascript.place}: other languages need a sandbox (SANDBOX_URL)`
        : `JavaScript runs ${javascript.place}, other languages in the sandbox`,
  };
  const noVariables: Note = { path: "config.env", message: "JavaScript does not get it" };
  return [
    place,
    ...(Object.keys(env ?? {}).length > 0 ? [noVariables] : []),
    ...environmentNotes(env, sandbox, dependencies),
  ];
}

/** @throws ValueError when no sandbox is configured */
export function requireSandbox(sandbox: SandboxAddress | undefined): SandboxAddress {
  if (sandbox !== undefined) return sandbox;
  throw new ValueError(
    "code runs in a sandbox, and this server has none: set SANDBOX_URL, and leave CODE at auto",
  );
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
