import type * as z from "zod";
import type { ChatAgent } from "../../core/agents/chat-agent.ts";
import {
  type AnyComponentDefinition,
  type Component,
  componentDefinition,
  type ComponentLoader,
} from "../../core/component/component.ts";
import { shortForm, ValueError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Message } from "../../core/messages/message.ts";
import type { TokenUsage } from "../../core/models/request-usage.ts";
import type { Runnable } from "../../core/run/runnable.ts";
import type { DatasetItem } from "../data/item.ts";

/** The verdict on one run. */
export interface Score {
  /** From 0 to 1; null where there is no verdict, for example because the judge failed. */
  score: number | null;
  /** Null without a verdict. */
  pass: boolean | null;
  reason: string;
}

/** A run that has ended, as scorers see it. */
export interface ScoredRun {
  item: DatasetItem<object>;
  /** The text of the last message. */
  output: string;
  /** All messages and events, those of the task and of the user included. */
  messages: readonly Message[];
  turns: number;
  usage: TokenUsage;
  /** Null where a model has no price. */
  cost: number | null;
  seconds: number;
}

/** The services of the host for scorers. */
export interface ScorerHost {
  readonly signal: AbortSignal;
  /** Runs an agent or a team with a task. @returns the text of its last message */
  run(subject: Runnable | ChatAgent, task: string): Promise<string>;
}

/** Judges runs. What it throws is a failure of the scorer, not of the run. */
export interface Scorer extends Component {
  score(run: ScoredRun, host: ScorerHost): Score | Promise<Score>;
}

/** A function as a scorer: true and false are 1 and 0; a number passes from 0.5 on. */
export type ScoreFunction = (run: ScoredRun) => ScoreValue | Promise<ScoreValue>;
export type ScoreValue = boolean | number | (Pick<Score, "score"> & Partial<Score>);

const PASSES_FROM = 0.5;

/** A scorer as a component with the provider `troupe.scorers.NAME`. */
export function scorerDefinition<Schema extends z.ZodType>(
  name: string,
  configSchema: Schema,
  make: (config: z.output<Schema>, loader: ComponentLoader) => Scorer["score"],
): AnyComponentDefinition {
  const definition = {
    provider: `troupe.scorers.${name}`,
    componentType: "scorer",
    role: "scorer",
    version: 1,
  } as const;
  return componentDefinition<z.output<Schema>>({
    ...definition,
    configSchema: configSchema as z.ZodType<z.output<Schema>>,
    fromConfig: (config, loader): Scorer => ({
      definition,
      score: make(config, loader),
      toConfig: () => config as JsonObject,
    }),
  });
}

/** A verdict without degrees. @param reason why it does not pass */
export function verdict(pass: boolean, reason: string): Score {
  return { score: pass ? 1 : 0, pass, reason: pass ? "" : reason };
}

/**
 * The score that a function of a user has returned.
 *
 * @throws ValueError when it is none
 */
export function scoreOf(value: unknown, owner: string): Score {
  if (typeof value === "boolean") return verdict(value, "");
  const given: Partial<Record<keyof Score, unknown>> =
    typeof value === "object" && value !== null ? value : { score: value };
  const { score, reason = "" } = given;
  if (score === null) return { score, pass: null, reason: String(reason) };
  if (typeof score !== "number" || !(score >= 0 && score <= 1)) {
    throw new ValueError(
      `${owner} must return true, false, a number from 0 to 1, or { score, pass?, reason? }, not ${shortForm(value)}`,
    );
  }
  const { pass = score >= PASSES_FROM } = given;
  return { score, pass: Boolean(pass), reason: String(reason) };
}

/** The text, number or other value that an output is compared with. @throws ValueError without one */
export function wantedOf<T>(
  value: T | undefined,
  { item }: ScoredRun,
): T | DatasetItem["expected"] {
  const wanted = value ?? item.expected;
  if (wanted !== undefined) return wanted;
  throw new ValueError(
    `the item "${item.id}" has no "expected", and the config of the scorer has no "value"`,
  );
}
