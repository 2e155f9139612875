import * as z from "zod";
import type { AnyComponentDefinition } from "../component/component.ts";
import { refuseWhereNew } from "../component/refused-where-new.ts";
import type { Issue } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import { handedTo } from "../messages/handed-to.ts";
import type { Message } from "../messages/message.ts";
import { conditionDefinition } from "./condition-definition.ts";
import { MatchTermination } from "./match-termination.ts";
import type { ConditionEnvironment } from "./termination-condition.ts";
import { aText, checkArgument } from "../options/options.ts";

function findMistakes({ target }: { target: string }): Issue[] {
  if (target !== "") return [];
  return [
    { path: "target", message: "must not be empty: no agent has an empty name, so it never fires" },
  ];
}

/**
 * Fires on a handoff to `target`, often a human (AutoGen `HandoffTermination`). In a task that hands over to the team
 * itself, earlier handoffs are ignored: they belong to the outer team.
 */
export class HandoffTermination extends MatchTermination {
  static readonly component = conditionDefinition({
    name: "HandoffTermination",
    configSchema: z.object({ target: z.string() }),
    findMistakes,
    fromConfig: ({ target }) => new HandoffTermination(target),
  });
  readonly definition: AnyComponentDefinition = HandoffTermination.component;
  readonly #target: string;

  constructor(target: string) {
    super();
    this.#target = checkArgument(aText, target, "HandoffTermination", "target");
    refuseWhereNew("HandoffTermination", findMistakes({ target }));
  }

  toConfig(): JsonObject {
    return { target: this.#target };
  }

  protected reason(
    delta: readonly Message[],
    { receiver }: ConditionEnvironment,
  ): string | undefined {
    const own =
      receiver === undefined ? delta : delta.slice(Math.max(0, handedTo(delta, receiver)));
    const handoff = own.find(
      (message) => message.type === "HandoffMessage" && message.target === this.#target,
    );
    return handoff && `Handoff to ${this.#target} from ${handoff.source} detected.`;
  }
}
