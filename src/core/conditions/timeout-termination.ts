import * as z from "zod";
import type { AnyComponentDefinition } from "../component/component.ts";
import { refuseWhereNew } from "../component/refused-where-new.ts";
import type { Issue } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import type { Message } from "../messages/message.ts";
import { conditionDefinition } from "./condition-definition.ts";
import { MatchTermination } from "./match-termination.ts";
import type { ConditionEnvironment } from "./termination-condition.ts";
import { aNumber, checkArgument } from "../options/options.ts";

function findMistakes({ timeout_seconds: seconds }: { timeout_seconds: number }): Issue[] {
  if (seconds > 0 && Number.isFinite(seconds)) return [];
  const message = `must be a number of seconds above 0, not ${seconds}`;
  return [{ path: "timeout_seconds", message: `${message}: every run would end with its task` }];
}

/** Fires after `timeoutSeconds` of running time, without waits and pauses (AutoGen `TimeoutTermination`). */
export class TimeoutTermination extends MatchTermination {
  static readonly component = conditionDefinition({
    name: "TimeoutTermination",
    configSchema: z.object({ timeout_seconds: z.number() }),
    findMistakes,
    fromConfig: ({ timeout_seconds }) => new TimeoutTermination(timeout_seconds),
  });
  readonly definition: AnyComponentDefinition = TimeoutTermination.component;
  readonly #timeoutSeconds: number;

  constructor(timeoutSeconds: number) {
    super();
    this.#timeoutSeconds = checkArgument(
      aNumber,
      timeoutSeconds,
      "TimeoutTermination",
      "timeoutSeconds",
    );
    refuseWhereNew("TimeoutTermination", findMistakes({ timeout_seconds: timeoutSeconds }));
  }

  toConfig(): JsonObject {
    return { timeout_seconds: this.#timeoutSeconds };
  }

  atLimit(): boolean {
    return true;
  }

  protected reason(
    _delta: readonly Message[],
    { elapsedMs }: ConditionEnvironment,
  ): string | undefined {
    return elapsedMs >= this.#timeoutSeconds * 1000
      ? `Timeout of ${secondsText(this.#timeoutSeconds)} seconds reached`
      : undefined;
  }
}

/** AutoGen prints a float: with a fraction even when it is whole. */
function secondsText(seconds: number): string {
  return Number.isInteger(seconds) ? `${seconds}.0` : String(seconds);
}
