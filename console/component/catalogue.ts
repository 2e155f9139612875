import type { CreateTeam, KnownComponent } from "troupe/client";
import { shortKindOf } from "../teams/kinds.ts";
import { type Setting, settingsOf } from "./settings.ts";

/** The component types that fit into a key of a config. For keys that are not listed, all types are offered. */
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
  clients: ["model", "replay_chat_completion_client", "chat_completion_cache"],
  client_config: ["model", "replay_chat_completion_client"],
  embedding: ["embedding"],
  sampler: ["mcp_sampler"],
  elicitor: ["mcp_elicitor"],
  roots: ["mcp_roots_provider"],
};

/** The class that a required part of a new component has. */
const USUAL: Readonly<Record<string, string>> = {
  model_client: "autogen_ext.models.openai.OpenAIChatCompletionClient",
  code_executor: "troupe.code_executors.SandboxCodeExecutor",
  executor: "troupe.code_executors.SandboxCodeExecutor",
};

// A type, not an interface: the client takes component JSON as an object of any keys, which no interface is.
export type ComponentData = {
  provider: string;
  component_type?: string | null | undefined;
  config?: { [key: string]: unknown };
};

/** A model of the server's catalogue. */
type OfferedModel = NonNullable<KnownComponent["models"]>[number];

/** A team's component in the client's form. */
export type CatalogueTeam = NonNullable<CreateTeam["component"]>;

/** The classes of the server, for choosing one. */
export class Catalogue {
  readonly #known: ReadonlyMap<string, KnownComponent>;
  readonly #settings = new Map<string, readonly Setting[]>();

  constructor(known: readonly KnownComponent[]) {
    this.#known = new Map(known.map((one) => [one.provider, one]));
  }

  knows(provider: string): boolean {
    return this.#known.has(provider);
  }

  /** The classes that fit into a key, sorted by name. */
  fitting(key: string): { provider: string; name: string }[] {
    const types = FITTING[key];
    return [...this.#known.values()]
      .filter(({ component_type }) => types === undefined || types.includes(component_type))
      .map(({ provider }) => ({ provider, name: shortKindOf(provider) }))
      .toSorted((a, b) => a.name.localeCompare(b.name));
  }

  /** The settings of a class; none if the server does not know it. */
  settings(provider: string): readonly Setting[] {
    const found = this.#settings.get(provider);
    if (found !== undefined) return found;
    const existing = this.#known.get(provider);
    const settings = existing === undefined ? [] : settingsOf(existing.config);
    this.#settings.set(provider, settings);
    return settings;
  }

  has(provider: string, key: string): boolean {
    return this.settings(provider).some((setting) => setting.key === key);
  }

  /** Values of a text that its class knows, for choosing one. */
  names(provider: string, key: string): readonly string[] {
    const { properties } = (this.#known.get(provider)?.config ?? {}) as {
      properties?: { [key: string]: { examples?: readonly string[] } };
    };
    return properties?.[key]?.examples ?? [];
  }

  /** The facts of the server about a model of a class. */
  model(provider: string, name: string): OfferedModel | undefined {
    return this.#known.get(provider)?.models?.find((model) => model.name === name);
  }

  /** A component with only its required parts. */
  empty(provider: string): ComponentData {
    const type = this.#known.get(provider)?.component_type;
    const parts = this.settings(provider).flatMap(({ key, required }) => {
      const usual = required ? USUAL[key] : undefined;
      return usual === undefined ? [] : [[key, this.empty(usual)] as const];
    });
    return {
      provider,
      ...(type !== undefined && { component_type: type }),
      config: Object.fromEntries(parts),
    };
  }
}
