import * as z from "zod";
import { codeResultSchema } from "../../code/code-block.ts";
import { shownOutput } from "../../messages/views.ts";
import type { CodeExecutor } from "../../code/code-executor.ts";
import { componentModelSchema } from "../../component/component-model.ts";
import {
  type AnyComponentDefinition,
  componentDefinition,
  dumpComponent,
} from "../../component/component.ts";
import type { Json, JsonObject } from "../../json.ts";
import { runBlock } from "../../python/python-host.ts";
import type { RetryPolicy } from "../../steps/retry.ts";
import type { Tool, ToolRun } from "../tool.ts";
import { toolParameters } from "./tool-parameters.ts";

const DESCRIPTION = "Execute Python code blocks.";

const configSchema = z.object({
  executor: componentModelSchema,
  description: z.string().default(DESCRIPTION),
});

const PARAMETERS = {
  type: "object",
  properties: {
    code: {
      type: "string",
      title: "Code",
      description: "The contents of the Python code block that should be executed",
    },
  },
  required: ["code"],
  additionalProperties: false,
};

const resultSchema = codeResultSchema
  .pick({ output: true, images: true })
  .extend({ success: z.boolean() });

/** Runs Python that a model wrote (AutoGen `PythonCodeExecutionTool`) and returns its output. */
export class PythonCodeExecutionTool implements Tool {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_ext.tools.code_execution.PythonCodeExecutionTool",
    componentType: "tool",
    role: "tool",
    version: 1,
    configSchema,
    fromConfig: ({ executor }, loader) =>
      new PythonCodeExecutionTool(loader.load(executor, "code_executor", "executor")),
  });
  readonly definition = PythonCodeExecutionTool.component;
  readonly name = "CodeExecutor";
  readonly description = DESCRIPTION;
  /** Executors answer a repeated key with the recorded result. */
  readonly policy = "retry";
  readonly remote = true;
  readonly #executor: CodeExecutor;
  readonly #parameters = toolParameters(this.name, PARAMETERS, false);

  constructor(executor: CodeExecutor) {
    this.#executor = executor;
  }

  get retry(): RetryPolicy | undefined {
    return this.#executor.retry;
  }

  get schema() {
    const { name, description } = this;
    return { name, description, parameters: this.#parameters.schema, strict: false };
  }

  received(args: JsonObject): JsonObject {
    return { ...args, language: "python" };
  }

  /** @returns `{success, output}`, with `images` where the code wrote some @throws ValueError when `code` is missing or not text */
  async run(
    args: JsonObject,
    { signal, idempotencyKey, session, files, trace }: ToolRun,
  ): Promise<Json> {
    const { code } = this.#parameters.parse(args) as { code: string };
    const {
      exit_code,
      output,
      images = [],
    } = await runBlock(
      this.#executor,
      { language: "python", code },
      {
        attempt: 1,
        signal,
        idempotencyKey,
        ...(session !== undefined && { session }),
        ...(files && { files }),
        ...(trace && { trace }),
      },
    );
    const shownImages = images.map(({ path, data }) => ({ path, data }));
    return {
      success: exit_code === 0,
      output,
      ...(shownImages.length > 0 && { images: shownImages }),
    };
  }

  valueAsText(value: Json): string {
    return shownOutput(resultSchema.parse(value));
  }

  toConfig(): JsonObject {
    return { executor: dumpComponent(this.#executor), description: this.description };
  }
}
