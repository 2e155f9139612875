import * as z from "zod";
import type { AnyComponentDefinition } from "../component/component.ts";
import { refuseWhereNew } from "../component/refused-where-new.ts";
import { type Issue, ValueError } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import type { Message } from "../messages/message.ts";
import { BaseTermination } from "./base-termination.ts";
import { conditionDefinition, limitMistakes } from "./condition-definition.ts";
import type { ConditionStep } from "./termination-condition.ts";
import { aNumber, checkOptions, type OptionsSchema } from "../options/options.ts";

/** Tokens so far. */
export type TokenUsageState = { prompt: number; completion: number };

/** The token limits; at least one is required. */
export interface TokenLimits {
  maxTotalToken?: number | null | undefined;
  maxPromptToken?: number | null | undefined;
  maxCompletionToken?: number | null | undefined;
}

const limitSchema = z.number().int().nullish();

const limitsSchema: OptionsSchema<TokenLimits> = z.object({
  maxTotalToken: aNumber.nullish(),
  maxPromptToken: aNumber.nullish(),
  maxCompletionToken: aNumber.nullish(),
});

const configSchema = z.object({
  max_total_token: limitSchema,
  max_prompt_token: limitSchema,
  max_completion_token: limitSchema,
});

function findMistakes(limits: z.infer<typeof configSchema>): Issue[] {
  return Object.entries(limits).flatMap(([field, limit]) =>
    limit == null ? [] : limitMistakes(field, limit),
  );
}

/** Fires when the models have used that many tokens (AutoGen `TokenUsageTermination`). */
export class TokenUsageTermination extends BaseTermination<TokenUsageState> {
  static readonly component = conditionDefinition({
    name: "TokenUsageTermination",
    configSchema,
    findMistakes,
    fromConfig: ({ max_total_token, max_prompt_token, max_completion_token }) =>
      new TokenUsageTermination({
        maxTotalToken: max_total_token,
        maxPromptToken: max_prompt_token,
        maxCompletionToken: max_completion_token,
      }),
  });
  readonly definition: AnyComponentDefinition = TokenUsageTermination.component;
  protected readonly stateSchema = z.object({
    prompt: z.number().int(),
    completion: z.number().int(),
  });
  readonly #total: number | null;
  readonly #prompt: number | null;
  readonly #completion: number | null;

  /** @throws ValueError when no limit is given */
  constructor(limits: TokenLimits) {
    super();
    checkOptions(limitsSchema, limits, "TokenUsageTermination");
    this.#total = limits.maxTotalToken ?? null;
    this.#prompt = limits.maxPromptToken ?? null;
    this.#completion = limits.maxCompletionToken ?? null;
    if (this.#total === null && this.#prompt === null && this.#completion === null) {
      throw new ValueError(
        "a token usage termination needs a limit: max_total_token, max_prompt_token or max_completion_token",
      );
    }
    refuseWhereNew("TokenUsageTermination", findMistakes(this.#limits()));
  }

  /** Includes the unset limits, which AutoGen requires. */
  toConfig(): JsonObject {
    return this.#limits();
  }

  #limits(): z.infer<typeof configSchema> & JsonObject {
    return {
      max_total_token: this.#total,
      max_prompt_token: this.#prompt,
      max_completion_token: this.#completion,
    };
  }

  initialState(): TokenUsageState {
    return { prompt: 0, completion: 0 };
  }

  terminated({ prompt, completion }: TokenUsageState): boolean {
    return (
      reached(prompt + completion, this.#total) ||
      reached(prompt, this.#prompt) ||
      reached(completion, this.#completion)
    );
  }

  atLimit(): boolean {
    return true;
  }

  protected next(
    before: TokenUsageState,
    delta: readonly Message[],
  ): ConditionStep<TokenUsageState> {
    const state = { ...before };
    for (const { models_usage } of delta) {
      state.prompt += models_usage?.prompt_tokens ?? 0;
      state.completion += models_usage?.completion_tokens ?? 0;
    }
    if (!this.terminated(state)) return { state };
    const { prompt, completion } = state;
    const content = `Token usage limit reached, total token count: ${prompt + completion}, prompt token count: ${prompt}, completion token count: ${completion}.`;
    return { state, stop: { content, source: "TokenUsageTermination" } };
  }
}

function reached(count: number, limit: number | null): boolean {
  return limit !== null && count >= limit;
}
