import type { Note } from "../../../core/component/component.ts";
import { isOpenAI } from "../../../core/models/model-family.ts";
import type { ModelInfo } from "../../../core/models/model-info.ts";

/** The catalogue's data about a model. */
export interface KnownModel {
  info: ModelInfo;
  /** Tokens of the context window; undefined when not published. */
  tokenLimit: number | undefined;
  /** True if the model can reason before it answers; undefined if the catalogue does not say. */
  reasons?: boolean | undefined;
  /** True if it reasons when a request gives no effort. */
  reasonsUnasked?: boolean;
  /** When OpenAI serves the model with tools only by its Responses API; undefined: never. */
  responses?: NeedsResponses | undefined;
}

/**
 * The assumed abilities of an unknown model, which most servers of OpenAI's API and of open models have. Abilities that
 * a server would ignore without an error are left out.
 */
export function guessedModelInfo(): ModelInfo {
  return {
    vision: false,
    functionCalling: true,
    jsonOutput: true,
    family: "unknown",
    structuredOutput: false,
    multipleSystemMessages: false,
  };
}

/** The note that the abilities of a model are a guess, because neither the config nor the catalogue has them. */
export function unknownModelNotes(
  config: { model: string; model_info?: unknown; model_capabilities?: unknown },
  catalogued: KnownModel | undefined,
): Note[] {
  if (catalogued !== undefined || config.model_info != null || config.model_capabilities != null)
    return [];
  return [
    {
      path: "config.model",
      message:
        `The model '${config.model}' is not in the catalogue. It is assumed to have function_calling and json_output, ` +
        "but neither vision nor structured_output, and the family 'unknown'. Add model_info to the config if that is " +
        "wrong.",
    },
  ];
}

/** For all requests, for any reasoning effort but an explicit `none`, or only where an effort is given. */
export type NeedsResponses = "always" | "unless_none" | "with_effort";

/**
 * Abilities: `v`ision, `f`unction calling, `j`son output, `s`tructured output, `m`ultiple system messages; `r`easons,
 * or only if a re`q`uest gives an effort; reads `p`df.
 */
type Abilities = string;

/**
 * Matches names in lower case; family; abilities; tokens of the context window (0: not known); OpenAI's API for tools.
 */
export type ModelRow = readonly [
  name: RegExp,
  family: string,
  abilities: Abilities,
  tokenLimit: number,
  responses?: NeedsResponses,
];

/** The first row that matches a name. */
export function findModel(name: string, rows: readonly ModelRow[]): KnownModel | undefined {
  const row = rows.find(([pattern]) => pattern.test(name));
  if (row === undefined) return undefined;
  const [, family, abilities, tokenLimit, responses] = row;
  return {
    info: {
      vision: abilities.includes("v"),
      functionCalling: abilities.includes("f"),
      jsonOutput: abilities.includes("j"),
      family,
      structuredOutput: abilities.includes("s"),
      multipleSystemMessages: abilities.includes("m"),
      ...(abilities.includes("p") && { pdf: true }),
    },
    tokenLimit: tokenLimit || undefined,
    reasons: /[rq]/.test(abilities) || (isOpenAI(family) ? false : undefined),
    reasonsUnasked: abilities.includes("r"),
    responses,
  };
}
