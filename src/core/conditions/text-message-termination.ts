import * as z from "zod";
import type { AnyComponentDefinition } from "../component/component.ts";
import { withoutNulls } from "../component/component.ts";
import type { JsonObject } from "../json.ts";
import type { Message } from "../messages/message.ts";
import { conditionDefinition } from "./condition-definition.ts";
import { isSteering } from "../turn/steering.ts";
import { MatchTermination } from "./match-termination.ts";
import { aText, checkArgument } from "../options/options.ts";

/** Fires on a TextMessage, from `source`, or from any source (AutoGen `TextMessageTermination`). */
export class TextMessageTermination extends MatchTermination {
  static readonly component = conditionDefinition({
    name: "TextMessageTermination",
    configSchema: z.object({ source: z.string().nullish() }),
    fromConfig: ({ source }) => new TextMessageTermination(source),
  });
  readonly definition: AnyComponentDefinition = TextMessageTermination.component;
  readonly #source: string | null;

  constructor(source: string | null = null) {
    super();
    this.#source = checkArgument(aText.nullable(), source, "TextMessageTermination", "source");
  }

  toConfig(): JsonObject {
    return withoutNulls({ source: this.#source });
  }

  protected reason(delta: readonly Message[]): string | undefined {
    const text = delta.find(
      (message) =>
        message.type === "TextMessage" &&
        (this.#source === null ? !isSteering(message) : message.source === this.#source),
    );
    return text && `Text message received from '${text.source}'`;
  }
}
