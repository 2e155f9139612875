import { TroupeError } from "../../errors.ts";
import type { JsonObject } from "../../json.ts";
import type { CodeExecutor } from "../../code/code-executor.ts";
import type { RetryPolicy } from "../../steps/retry.ts";
import type { ToolSchema } from "../../models/chat-completion-client.ts";
import { FUNCTION_TOOL } from "./function-tool.ts";
import type { Tool, ToolRun } from "../tool.ts";
import { pythonRequest } from "../../python/python-request.ts";
import { runBlock } from "../../python/python-host.ts";
import type { PythonSource } from "../../python/python-source.ts";

export interface PythonFunctionToolOptions {
  schema: ToolSchema;
  function: PythonSource;
  executor: CodeExecutor;
  /** The packages that the function lacked when it was inspected, and what to do about it. */
  lack: string | undefined;
  /** The time for which a call is repeated while the sandbox is away. */
  retry: RetryPolicy | undefined;
  /** The config it was loaded from, for dumping. */
  config: JsonObject;
}

/** A Python function of component JSON (AutoGen `FunctionTool`). Each call runs in the sandbox, in the team's workspace. */
export class PythonFunctionTool implements Tool {
  readonly definition = FUNCTION_TOOL;
  readonly schema: ToolSchema;
  /** The sandbox answers a repeated key with its recorded result. */
  readonly policy = "retry";
  readonly retry: RetryPolicy | undefined;
  readonly remote = true;
  readonly #function: PythonSource;
  readonly #executor: CodeExecutor;
  readonly #lack: string | undefined;
  readonly #config: JsonObject;

  constructor(options: PythonFunctionToolOptions) {
    this.schema = options.schema;
    this.#function = options.function;
    this.#executor = options.executor;
    this.retry = options.retry;
    this.#lack = options.lack;
    this.#config = options.config;
  }

  get name(): string {
    return this.schema.name;
  }

  get description(): string {
    return this.schema.description ?? "";
  }

  /**
   * @returns the function's result as text
   * @throws TroupeError `python_error` with the message of its exception, or with the invalid arguments
   */
  async run(
    args: JsonObject,
    { signal, idempotencyKey, session, files, trace, run }: ToolRun,
  ): Promise<string> {
    const request = { function: this.#function, arguments: args, run };
    const python = await pythonRequest("call_function", request, idempotencyKey);
    const result = await runBlock(this.#executor, python.block, {
      attempt: 1,
      idempotencyKey,
      signal,
      ...(session !== undefined && { session }),
      ...(files && { files }),
      ...(trace && { trace }),
    });
    const { text, error } = python.answers(result.output).at(-1) ?? {};
    if (typeof text === "string") return text;
    if (typeof error !== "string") {
      throw new TroupeError("python_error", `the function did not return: ${python.end(result)}`);
    }
    const isImport = this.#lack !== undefined && error.includes("No module named ");
    throw new TroupeError("python_error", isImport ? `${error}: ${this.#lack}` : error);
  }

  valueAsText(value: unknown): string {
    return String(value);
  }

  toConfig(): JsonObject {
    return this.#config;
  }
}
