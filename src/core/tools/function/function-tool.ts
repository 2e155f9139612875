import * as z from "zod";
import { type Component, withoutNulls } from "../../component/component.ts";
import { exactJson, isJsonObject, type Json, type JsonObject, parseJson } from "../../json.ts";
import { isSchema } from "../../json-schema/object-schema.ts";
import type { ToolSchema } from "../../models/chat-completion-client.ts";
import type { StepPolicy } from "../../steps/step-attempt.ts";
import { refuseWhereNew } from "../../component/refused-where-new.ts";
import { toolNameMistakes } from "../tool-name.ts";
import { stubOf } from "./function-tool-stub.ts";
import type { Tool, ToolRun } from "../tool.ts";
import {
  type ArgumentsOf,
  type ParametersSource,
  type ToolParameters,
  toolParameters,
} from "./tool-parameters.ts";
import { valueAsText } from "./value-as-text.ts";
import {
  aBoolean,
  aFunction,
  aText,
  checkOptions,
  type OptionsSchema,
  valueThat,
} from "../../options/options.ts";

export const FUNCTION_TOOL: Component["definition"] = {
  provider: "autogen_core.tools.FunctionTool",
  componentType: "tool",
  role: "tool",
  version: 1,
};

export interface FunctionToolOptions<P extends ParametersSource, Env = object> {
  name: string;
  description: string;
  /** A zod object, or a JSON Schema of type object. Arguments are checked against it before `execute` gets them. */
  parameters: P;
  /**
   * Returns text or any JSON value. An error it throws becomes an error result that the model reads. `run.env` has the bindings of
   * the Worker: annotate `run` as `ToolRun<Env>` for their types.
   */
  execute: (args: ArgumentsOf<P>, run: ToolRun<Env>) => unknown;
  /**
   * The treatment of an interrupted call after a restart. Default `never`: an effect is not repeated. Use `retry` for
   * reads and for effects that `run.idempotencyKey` makes idempotent, `ask` to let a human decide.
   */
  policy?: StepPolicy | undefined;
  /** The model must follow the schema exactly; then every argument is required. Default false. */
  strict?: boolean | undefined;
}

/** Keywords of which a JSON Schema of an object has one. */
const OF_OBJECTS = new Set([
  "properties",
  "additionalProperties",
  "$ref",
  "allOf",
  "anyOf",
  "oneOf",
]);

/** False for something else by mistake, such as the schemas of single parameters by their names. */
function mayDescribeObject(schema: JsonObject): boolean {
  const keywords = Object.keys(schema);
  if (schema["type"] !== undefined) return schema["type"] === "object";
  return keywords.length === 0 || keywords.some((keyword) => OF_OBJECTS.has(keyword));
}

const optionsSchema: OptionsSchema<FunctionToolOptions<ParametersSource>> = z.object({
  name: aText,
  description: aText,
  parameters: valueThat(
    "a zod object, such as z.object({ city: z.string() }), or a JSON Schema of type object",
    (value) => isSchema(value) || (isJsonObject(value) && mayDescribeObject(value)),
  ),
  execute: aFunction,
  policy: z.enum(["retry", "never", "ask"]).optional(),
  strict: aBoolean.optional(),
});

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
export class FunctionTool<
  P extends ParametersSource = ParametersSource,
  Env = object,
> implements Tool {
  readonly definition = FUNCTION_TOOL;
  readonly name: string;
  readonly description: string;
  readonly schema: ToolSchema;
  readonly policy: StepPolicy;
  readonly #parameters: ToolParameters<ArgumentsOf<P>>;
  readonly #execute: FunctionToolOptions<P, Env>["execute"];

  constructor(options: FunctionToolOptions<P, Env>) {
    const checked = checkOptions<FunctionToolOptions<P, Env>>(
      optionsSchema,
      options,
      "FunctionTool",
    );
    const { name, description, parameters, execute, policy = "never", strict = false } = checked;
    refuseWhereNew("FunctionTool", toolNameMistakes(name));
    this.#parameters = toolParameters(name, parameters, strict);
    this.#execute = execute;
    this.name = name;
    this.description = description;
    this.policy = policy;
    this.schema = { name, description, parameters: this.#parameters.schema, strict };
  }

  async run(args: JsonObject, run: ToolRun): Promise<Json> {
    // The host has the bindings that the program declares.
    const value = await this.#execute(this.#parameters.parseForCode(args), run as ToolRun<Env>);
    return (value ?? null) as Json;
  }

  received(args: JsonObject): JsonObject {
    const value = parseJson(exactJson(this.#parameters.parseForCode(args)));
    return isJsonObject(value) ? value : args;
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
