import * as z from "zod";
import type { AnyComponentDefinition } from "../component/component.ts";
import type { JsonObject } from "../json.ts";
import { conditionDefinition } from "./condition-definition.ts";
import { MatchTermination } from "./match-termination.ts";

/**
 * Fires after a call to {@link set} (AutoGen `ExternalTermination`). It is for programs that hold the object;
 * a run in a Durable Object is asked to stop through its API.
 */
export class ExternalTermination extends MatchTermination {
  static readonly component = conditionDefinition({
    name: "ExternalTermination",
    configSchema: z.object({}),
    fromConfig: () => new ExternalTermination(),
  });
  readonly definition: AnyComponentDefinition = ExternalTermination.component;
  /** True if `set` was called and no check has seen it yet. */
  #pressed = false;

  /** Ends the chat after the current turn, or on the task or after the first turn of the next run. */
  set(): void {
    this.#pressed = true;
  }

  toConfig(): JsonObject {
    return {};
  }

  override reset(): { terminated: boolean } {
    this.#pressed = false;
    return super.reset();
  }

  atLimit(): boolean {
    return true;
  }

  protected reason(): string | undefined {
    if (!this.#pressed) return undefined;
    this.#pressed = false;
    return "External termination requested";
  }
}
