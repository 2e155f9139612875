import * as z from "zod";
import type { AnyComponentDefinition } from "../component/component.ts";
import type { JsonObject } from "../json.ts";
import type { Message } from "../messages/message.ts";
import { conditionDefinition, MatchTermination } from "./match-termination.ts";
import { aText, checkArgument } from "../options.ts";

/** Fires when the tool `functionName` has been run (AutoGen `FunctionCallTermination`). */
export class FunctionCallTermination extends MatchTermination {
  static readonly component = conditionDefinition({
    name: "FunctionCallTermination",
    configSchema: z.object({ function_name: z.string() }),
    fromConfig: ({ function_name }) => new FunctionCallTermination(function_name),
  });
  readonly definition: AnyComponentDefinition = FunctionCallTermination.component;
  readonly #functionName: string;

  constructor(functionName: string) {
    super();
    this.#functionName = checkArgument(
      aText,
      functionName,
      "FunctionCallTermination",
      "functionName",
    );
  }

  toConfig(): JsonObject {
    return { function_name: this.#functionName };
  }

  protected reason(delta: readonly Message[]): string | undefined {
    const executed = delta.some(
      (message) =>
        message.type === "ToolCallExecutionEvent" &&
        message.content.some((result) => result.name === this.#functionName),
    );
    return executed ? `Function '${this.#functionName}' was executed.` : undefined;
  }
}
