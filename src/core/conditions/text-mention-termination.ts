import * as z from "zod";
import type { AnyComponentDefinition } from "../component/component.ts";
import { withoutNulls } from "../component/component.ts";
import { refuseWhereNew } from "../component/refused-where-new.ts";
import type { Issue } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import type { Message } from "../messages/message.ts";
import { isSteering } from "../turn/steering.ts";
import { toText } from "../messages/views.ts";
import { conditionDefinition, noSourceMistakes } from "./condition-definition.ts";
import { MatchTermination } from "./match-termination.ts";
import {
  aText,
  checkArgument,
  checkOptions,
  type OptionsSchema,
  texts,
} from "../options/options.ts";

const optionsSchema: OptionsSchema<{ sources?: readonly string[] | null }> = z.object({
  sources: texts.nullish(),
});

const configSchema = z.object({ text: z.string(), sources: z.array(z.string()).nullish() });

function findMistakes({ text, sources }: z.infer<typeof configSchema>): Issue[] {
  const message =
    "must not be empty: every message contains an empty text, so every run would end with its task";
  return [
    ...(text === "" ? [{ path: "text", message }] : []),
    ...(sources == null ? [] : noSourceMistakes(sources, "leave it out for messages of everyone")),
  ];
}

/** Fires when a text is mentioned, letter by letter, in a message or event (AutoGen `TextMentionTermination`). */
export class TextMentionTermination extends MatchTermination {
  static readonly component = conditionDefinition({
    name: "TextMentionTermination",
    configSchema,
    findMistakes,
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
    refuseWhereNew(owner, findMistakes({ text, sources: this.#sources && [...this.#sources] }));
  }

  toConfig(): JsonObject {
    return withoutNulls({ text: this.#text, sources: this.#sources });
  }

  protected reason(delta: readonly Message[]): string | undefined {
    const mentioned = delta.some(
      (message) =>
        (this.#sources?.includes(message.source) ?? !isSteering(message)) &&
        toText(message).includes(this.#text),
    );
    return mentioned ? `Text '${this.#text}' mentioned` : undefined;
  }
}
