import * as z from "zod";
import type { JsonObject } from "../json.ts";
import type { Message } from "../messages/message.ts";
import { conditionDefinition, MatchTermination } from "./match-termination.ts";
import type { ConditionDefinition } from "./termination-condition.ts";

/** Fires on a StopMessage (AutoGen `StopMessageTermination`). */
export class StopMessageTermination extends MatchTermination {
  static readonly component = conditionDefinition({
    name: "StopMessageTermination",
    configSchema: z.object({}),
    fromConfig: () => new StopMessageTermination(),
  });
  readonly definition: ConditionDefinition = StopMessageTermination.component;

  toConfig(): JsonObject {
    return {};
  }

  protected reason(delta: readonly Message[]): string | undefined {
    return delta.some((message) => message.type === "StopMessage")
      ? "Stop message received"
      : undefined;
  }
}
