import * as z from "zod";
import { functionName } from "../component/functions.ts";
import { TroupeError } from "../errors.ts";
import type { AnyComponentDefinition } from "../component/component.ts";
import type { JsonObject } from "../json.ts";
import type { Message } from "../messages/message.ts";
import { conditionDefinition } from "./condition-definition.ts";
import { MatchTermination } from "./match-termination.ts";
import { aFunction, checkArgument } from "../options/options.ts";

/** Decides from the new messages whether the chat is over. Must be a pure function of its argument. */
export type TerminationFunction = (delta: readonly Message[]) => boolean;

/**
 * Fires when a function of the new messages says so (AutoGen `FunctionalTermination`, which has no component JSON;
 * here its key `func` names a registered function).
 */
export class FunctionalTermination extends MatchTermination {
  static readonly component = conditionDefinition({
    name: "FunctionalTermination",
    configSchema: z.object({
      func: z.string({
        error:
          "must be the name of a function that was registered with registerFunction: AutoGen writes no functions into JSON",
      }),
    }),
    fromConfig: ({ func }, loader) =>
      new FunctionalTermination(loader.function<TerminationFunction>(func, "func")),
  });
  readonly definition: AnyComponentDefinition = FunctionalTermination.component;
  readonly #fires: TerminationFunction;

  constructor(fires: TerminationFunction) {
    super();
    this.#fires = checkArgument(aFunction, fires, "FunctionalTermination", "fires");
  }

  /** @throws TroupeError `not_serializable` when the function is not registered and so has no name to save */
  toConfig(): JsonObject {
    const func = functionName(this.#fires);
    if (func !== undefined) return { func };
    throw new TroupeError(
      "not_serializable",
      "the function of this FunctionalTermination has no name in component JSON; register it with registerFunction",
    );
  }

  protected reason(delta: readonly Message[]): string | undefined {
    return this.#fires(delta) ? "Functional termination condition met" : undefined;
  }
}
