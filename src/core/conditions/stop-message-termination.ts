import * as z from "zod";
import type { AnyComponentDefinition } from "../component/component.ts";
import type { JsonObject } from "../json.ts";
import type { Message } from "../messages/message.ts";
import { conditionDefinition } from "./condition-definition.ts";
import { MatchTermination } from "./match-termination.ts";

/** Fires on a StopMessage (AutoGen `StopMessageTermination`). */
export class StopMessageTermination extends MatchTermination {
  static readonly component = conditionDefinition({
    name: "StopMessageTermination",
    configSchema: z.object({}),
    fromConfig: () => new StopMessageTermination(),
  });
  readonly definition: AnyComponentDefinition = StopMessageTermination.component;

  toConfig(): JsonObject {
    return {};
  }

  protected reason(delta: readonly Message[]): string | undefined {
    return delta.some((message) => message.type === "StopMessage")
      ? "Stop message received"
      : undefined;
  }
}
