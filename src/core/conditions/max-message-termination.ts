import * as z from "zod";
import type { AnyComponentDefinition } from "../component/component.ts";
import { refuseWhereNew } from "../component/refused-where-new.ts";
import type { Issue } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import { isChatMessage } from "../messages/views.ts";
import type { Message } from "../messages/message.ts";
import { BaseTermination } from "./base-termination.ts";
import { conditionDefinition, limitMistakes } from "./condition-definition.ts";
import type { ConditionStep } from "./termination-condition.ts";
import {
  aBoolean,
  aNumber,
  checkArgument,
  checkOptions,
  type OptionsSchema,
} from "../options/options.ts";

const optionsSchema: OptionsSchema<{ includeAgentEvent?: boolean }> = z.object({
  includeAgentEvent: aBoolean.optional(),
});

function findMistakes({ max_messages: limit }: { max_messages: number }): Issue[] {
  return limitMistakes("max_messages", limit);
}

/** Fires when that many messages were sent, the task's included (AutoGen `MaxMessageTermination`). */
export class MaxMessageTermination extends BaseTermination<{ count: number }> {
  static readonly component = conditionDefinition({
    name: "MaxMessageTermination",
    configSchema: z.object({
      max_messages: z.number().int(),
      include_agent_event: z.boolean().default(false),
    }),
    findMistakes,
    fromConfig: ({ max_messages, include_agent_event }) =>
      new MaxMessageTermination(max_messages, { includeAgentEvent: include_agent_event }),
  });
  readonly definition: AnyComponentDefinition = MaxMessageTermination.component;
  protected readonly stateSchema = z.object({ count: z.number().int() });
  readonly #maxMessages: number;
  readonly #includeAgentEvent: boolean;

  /** @param options.includeAgentEvent whether events count, too; default false */
  constructor(maxMessages: number, options: { includeAgentEvent?: boolean | undefined } = {}) {
    super();
    const owner = "MaxMessageTermination";
    this.#maxMessages = checkArgument(aNumber, maxMessages, owner, "maxMessages");
    const { includeAgentEvent = false } = checkOptions(optionsSchema, options, owner);
    this.#includeAgentEvent = includeAgentEvent;
    refuseWhereNew(owner, findMistakes({ max_messages: maxMessages }));
  }

  toConfig(): JsonObject {
    return { max_messages: this.#maxMessages, include_agent_event: this.#includeAgentEvent };
  }

  initialState(): { count: number } {
    return { count: 0 };
  }

  terminated(state: { count: number }): boolean {
    return state.count >= this.#maxMessages;
  }

  atLimit(): boolean {
    return true;
  }

  protected next(
    state: { count: number },
    delta: readonly Message[],
  ): ConditionStep<{ count: number }> {
    const counted = this.#includeAgentEvent ? delta : delta.filter(isChatMessage);
    const count = state.count + counted.length;
    if (count < this.#maxMessages) return { state: { count } };
    const content = `Maximum number of messages ${this.#maxMessages} reached, current message count: ${count}`;
    return { state: { count }, stop: { content, source: "MaxMessageTermination" } };
  }
}
