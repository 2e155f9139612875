import { dumpComponent, type Component, type ComponentRole, type Json } from "troupe";
import { isJsonObject } from "#core/json.ts";
import type { Step } from "../trace.ts";
import { asJson, type Op } from "./op.ts";

/** AutoGen's base classes, as what a component may be expected to be. */
const ROLES: { readonly [base: string]: ComponentRole } = {
  ChatAgent: "agent",
  Team: "team",
  TerminationCondition: "termination",
  ChatCompletionClient: "model",
  ChatCompletionContext: "chat_completion_context",
  Memory: "memory",
  Tool: "tool",
  BaseTool: "tool",
  Workbench: "workbench",
  CodeExecutor: "code_executor",
  StructuredMessageFactory: "structured_message",
};

export const component: Op = (step, world) => {
  const { expect, component: model } = step;
  const role = typeof expect === "string" ? ROLES[expect] : undefined;
  if (expect !== undefined && role === undefined) {
    throw new Error(
      `the step expects a ${JSON.stringify(expect)}, which is not a known base class`,
    );
  }
  const loaded = world.load<Component>(model, role);
  return { dump: withoutExtensions(asJson(dumpComponent(loaded))) };
};

/** Keys that AutoGen does not know, by the class whose config has them: never compared. */
const EXTENSIONS: { readonly [className: string]: readonly string[] } = {
  MagenticOneGroupChat: ["orchestrator_prompts"],
  SelectorGroupChat: ["selector_feedback"],
  CodeExecutorAgent: ["executor_prompts", "max_retries_on_error"],
  TextMentionTermination: ["sources"],
};

/** What a step wants the dump to be. */
export function expectedDump({ dump, component: model }: Step): Json {
  return withoutExtensions((dump === "same" ? model : dump) ?? null);
}

function withoutExtensions(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutExtensions);
  if (!isJsonObject(value)) return value;
  const { provider, config } = value;
  const className = typeof provider === "string" ? (provider.split(".").at(-1) ?? "") : "";
  const extensions = EXTENSIONS[className] ?? [];
  const entries = Object.entries(value).map(([key, item]): [string, Json] => {
    if (key !== "config" || !isJsonObject(config)) return [key, withoutExtensions(item)];
    const kept = Object.entries(config).filter(([name]) => !extensions.includes(name));
    return [key, withoutExtensions(Object.fromEntries(kept))];
  });
  return Object.fromEntries(entries);
}
