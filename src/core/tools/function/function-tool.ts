import { type Component, withoutNulls } from "../../component/component.ts";
import type { Json, JsonObject } from "../../json.ts";
import type { ToolSchema } from "../../models/chat-completion-client.ts";
import type { StepPolicy } from "../../run/turn-context.ts";
import { stubOf } from "./function-tool-stub.ts";
import type { Tool, ToolRun } from "../tool.ts";
import {
  type ArgumentsOf,
  type ParametersSource,
  type ToolParameters,
  toolParameters,
} from "./tool-parameters.ts";
import { valueAsText } from "./value-as-text.ts";

export const FUNCTION_TOOL: Component["definition"] = {
  provider: "autogen_core.tools.FunctionTool",
  componentType: "tool",
  role: "tool",
  version: 1,
};

export interface FunctionToolOptions<P extends ParametersSource> {
  name: string;
  description: string;
  /** A zod object, or a JSON Schema of type object. Arguments are checked against it before `execute` gets them. */
  parameters: P;
  /** Returns text or any JSON value. An error it throws becomes an error result that the model reads. */
  execute: (args: ArgumentsOf<P>, run: ToolRun) => unknown;
  /**
   * Whether a restart repeats a call that was interrupted. Default `never`: an effect is not repeated. Use `retry` for
   * reads and for effects that `run.idempotencyKey` makes idempotent, `ask` to let a human decide.
   */
  policy?: StepPolicy;
  /** The model must follow the schema exactly; then every argument is required. Default false. */
  strict?: boolean;
}

/**
 * A function as a tool (AutoGen `FunctionTool`). Component JSON has its name and a Python stub that AutoGen loads; here it is loaded
 * from the tools that the program registers. Other Python in JSON becomes a {@link PythonFunctionTool}.
 *
 * @throws ValueError when `strict` is set and an argument is optional
 * @example
 * const add = new FunctionTool({
 *   name: "add",
 *   description: "Adds two numbers.",
 *   parameters: z.object({ a: z.number(), b: z.number() }),
 *   execute: ({ a, b }) => a + b,
 *   policy: "retry",
 * });
 */
export class FunctionTool<P extends ParametersSource = ParametersSource> implements Tool {
  readonly definition = FUNCTION_TOOL;
  readonly name: string;
  readonly description: string;
  readonly schema: ToolSchema;
  readonly policy: StepPolicy;
  readonly #parameters: ToolParameters<ArgumentsOf<P>>;
  readonly #execute: FunctionToolOptions<P>["execute"];

  constructor(options: FunctionToolOptions<P>) {
    const { name, description, parameters, execute, policy = "never", strict = false } = options;
    this.#parameters = toolParameters(name, parameters, strict);
    this.#execute = execute;
    this.name = name;
    this.description = description;
    this.policy = policy;
    this.schema = { name, description, parameters: this.#parameters.schema, strict };
  }

  async run(args: JsonObject, run: ToolRun): Promise<Json> {
    const value = await this.#execute(this.#parameters.parse(args), run);
    return (value ?? null) as Json;
  }

  valueAsText(value: Json): string {
    return valueAsText(value);
  }

  toConfig(): JsonObject {
    return withoutNulls({
      ...stubOf(this.schema),
      name: this.name,
      description: this.description,
      has_cancellation_support: false,
      strict: this.schema.strict === true ? true : null,
    });
  }
}
