import {
  Catalog,
  type ComponentModel,
  ComponentRegistry,
  coreComponents,
  loadMessage,
  type Message,
  type PythonHost,
  run,
} from "troupe";
import type { Score, ScoredRun, Scorer, ScorerHost } from "#evals/scorers/scorer.ts";
import { scorerComponents } from "#evals/scorers/scorer-components.ts";

const HOST: ScorerHost = {
  signal: new AbortController().signal,
  run: async (subject, task) => (await run(subject, task)).text,
};

/** A run that ended well; what a test is about is given. */
export function ended(
  given: Omit<Partial<ScoredRun>, "item"> & { expected?: ScoredRun["item"]["expected"] },
): ScoredRun {
  const { expected, ...rest } = given;
  return {
    item: { id: "1", task: "Do it.", ...(expected !== undefined && { expected }) },
    output: "",
    messages: [],
    turns: 1,
    usage: { prompt_tokens: 10, completion_tokens: 5 },
    cost: null,
    seconds: 1,
    ...rest,
  };
}

/** A message that asks for calls of tools. */
export function calling(...calls: [name: string, args: object][]): Message {
  return loadMessage(
    {
      type: "ToolCallRequestEvent",
      source: "agent",
      content: calls.map(([name, args], index) => ({
        id: String(index),
        name,
        arguments: JSON.stringify(args),
      })),
    },
    { id: () => "m", now: () => "2026-01-01T00:00:00Z" },
  );
}

/** A model that answers with these texts, one after the other. */
export function answering(...answers: string[]): ComponentModel {
  return {
    provider: "ReplayChatCompletionClient",
    config: { chat_completions: answers },
  };
}

export function registryWith(python?: PythonHost, catalog = new Catalog()): ComponentRegistry {
  return new ComponentRegistry({ functions: catalog }).register(
    ...coreComponents(catalog),
    ...scorerComponents(python),
  );
}

/** Scores a run with a scorer from component JSON. */
export async function score(
  provider: string,
  config: ComponentModel["config"],
  scored: ScoredRun,
  registry = registryWith(),
): Promise<Score> {
  return registry
    .load<Scorer>({ provider: `troupe.scorers.${provider}`, config }, "scorer")
    .score(scored, HOST);
}
