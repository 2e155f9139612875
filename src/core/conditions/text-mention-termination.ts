import * as z from "zod";
import type { AnyComponentDefinition } from "../component/component.ts";
import { withoutNulls } from "../component/component.ts";
import type { JsonObject } from "../json.ts";
import type { Message } from "../messages/message.ts";
import { toText } from "../messages/views.ts";
import { conditionDefinition, MatchTermination } from "./match-termination.ts";
import { aText, checkArgument, checkOptions, type OptionsSchema, texts } from "../options.ts";

const optionsSchema: OptionsSchema<{ sources?: readonly string[] | null }> = z.object({
  sources: texts.nullish(),
});

/** Fires when a text is mentioned, letter by letter, in a message or event (AutoGen `TextMentionTermination`). */
export class TextMentionTermination extends MatchTermination {
  static readonly component = conditionDefinition({
    name: "TextMentionTermination",
    configSchema: z.object({ text: z.string(), sources: z.array(z.string()).nullish() }),
    fromConfig: ({ text, sources }) => new TextMentionTermination(text, { sources }),
  });
  readonly definition: AnyComponentDefinition = TextMentionTermination.component;
  readonly #text: string;
  readonly #sources: readonly string[] | null;

  /** @param options.sources only messages from these count */
  constructor(text: string, options: { sources?: readonly string[] | null | undefined } = {}) {
    super();
    const owner = "TextMentionTermination";
    this.#text = checkArgument(aText, text, owner, "text");
    this.#sources = checkOptions(optionsSchema, options, owner).sources ?? null;
  }

  toConfig(): JsonObject {
    return withoutNulls({ text: this.#text, sources: this.#sources });
  }

  protected reason(delta: readonly Message[]): string | undefined {
    const mentioned = delta.some(
      (message) =>
        (this.#sources === null || this.#sources.includes(message.source)) &&
        toText(message).includes(this.#text),
    );
    return mentioned ? `Text '${this.#text}' mentioned` : undefined;
  }
}
