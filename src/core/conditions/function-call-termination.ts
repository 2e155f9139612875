import * as z from "zod";
import type { AnyComponentDefinition } from "../component/component.ts";
import { refuseWhereNew } from "../component/refused-where-new.ts";
import type { Issue } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import type { Message } from "../messages/message.ts";
import { conditionDefinition } from "./condition-definition.ts";
import { MatchTermination } from "./match-termination.ts";
import { aText, checkArgument } from "../options/options.ts";

function findMistakes({ function_name }: { function_name: string }): Issue[] {
  if (function_name !== "") return [];
  return [
    {
      path: "function_name",
      message: "must not be empty: no tool has an empty name, so it never fires",
    },
  ];
}

/** Fires when the tool `functionName` has been run (AutoGen `FunctionCallTermination`). */
export class FunctionCallTermination extends MatchTermination {
  static readonly component = conditionDefinition({
    name: "FunctionCallTermination",
    configSchema: z.object({ function_name: z.string() }),
    findMistakes,
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
    refuseWhereNew("FunctionCallTermination", findMistakes({ function_name: functionName }));
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
