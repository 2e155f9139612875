import type { KnownComponent } from "troupe/client";
import { shortKindOf } from "../teams/kinds.ts";

/** The component types that fit into a key of a config. Others are offered for keys that are not here. */
const FITTING: Readonly<Record<string, readonly string[]>> = {
  // The component itself.
  "": ["team", "agent"],
  participants: ["agent", "team"],
  agent: ["agent"],
  wrapped_agent: ["agent"],
  team: ["team"],
  model_client: ["model", "replay_chat_completion_client", "chat_completion_cache"],
  client: ["model", "replay_chat_completion_client"],
  model_context: ["chat_completion_context"],
  memory: ["memory"],
  tools: ["tool"],
  workbench: ["workbench"],
  termination_condition: ["termination"],
  conditions: ["termination"],
  code_executor: ["code_executor"],
  executor: ["code_executor"],
  store: ["cache_store"],
  structured_message_factory: ["structured_message"],
};

/** What a new field begins with. */
const USUAL: Readonly<Record<string, string>> = {
  participants: "autogen_agentchat.agents.AssistantAgent",
  model_client: "autogen_ext.models.openai.OpenAIChatCompletionClient",
};

export interface ComponentData {
  provider: string;
  component_type?: string;
  config?: { [key: string]: unknown };
}

/** The classes of the server, for choosing one. */
export class Catalogue {
  readonly #known: ReadonlyMap<string, KnownComponent>;

  constructor(known: readonly KnownComponent[]) {
    this.#known = new Map(known.map((one) => [one.provider, one]));
  }

  get(provider: string): KnownComponent | undefined {
    return this.#known.get(provider);
  }

  /** Those that fit into a key, by their names. */
  fitting(key: string): { provider: string; name: string }[] {
    const types = FITTING[key];
    return [...this.#known.values()]
      .filter(({ component_type }) => types === undefined || types.includes(component_type))
      .map(({ provider }) => ({ provider, name: shortKindOf(provider) }))
      .toSorted((a, b) => a.name.localeCompare(b.name));
  }

  /** A component with nothing filled in but what it cannot be without. */
  empty(provider: string): ComponentData {
    const known = this.#known.get(provider);
    const required = (known?.config["required"] ?? []) as readonly string[];
    const parts = required.filter((key) => USUAL[key] !== undefined);
    const config = Object.fromEntries(
      parts.map((key) => {
        const part = this.empty(USUAL[key] ?? "");
        return [key, key === "participants" ? [part] : part];
      }),
    );
    return { provider, ...(known && { component_type: known.component_type }), config };
  }

  /** What a new item of a list begins with. */
  usual(key: string): ComponentData | undefined {
    const provider = USUAL[key];
    return provider === undefined ? undefined : this.empty(provider);
  }
}
