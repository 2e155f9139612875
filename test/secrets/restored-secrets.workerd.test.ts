import { describe, expect, test } from "vitest";
import {
  Catalog,
  type ComponentModel,
  ComponentRegistry,
  coreComponents,
  type JsonObject,
  openAIComponents,
} from "troupe";
import { keyAddressOf } from "#components/models/key-address.ts";
import { SealedSecrets } from "#secrets/sealed-secrets.ts";

const registry = new ComponentRegistry().register(
  ...coreComponents(new Catalog()),
  ...openAIComponents(),
);
const secrets = new SealedSecrets(btoa("k".repeat(32)), {
  loadedPaths: async (component) => registry.loadedPaths(component),
  keyUrl: (component) => keyAddressOf(component, {})?.url,
});

function agent(
  name: string,
  key: string,
  client: JsonObject = {},
  config: JsonObject = {},
): ComponentModel {
  return {
    provider: "autogen_agentchat.agents.AssistantAgent",
    config: {
      name,
      model_client: {
        provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
        config: { model: "gpt-4o", base_url: "https://one.example/v1", api_key: key, ...client },
      },
      ...config,
    },
  };
}

function team(...participants: ComponentModel[]): ComponentModel {
  return { provider: "RoundRobinGroupChat", config: { participants } };
}

/** The keys of a version's agents once it is restored over a present component. */
async function keysOf(version: ComponentModel, present: ComponentModel): Promise<unknown[]> {
  const [sealed, sealedPresent] = [
    await secrets.seal(version, null),
    await secrets.seal(present, null),
  ];
  const restored = await secrets.open(await secrets.restore(sealed, sealedPresent));
  const { participants } = restored.config as unknown as {
    participants: ReturnType<typeof agent>[];
  };
  return participants.map(({ config }) => {
    const { model_client } = config as { model_client: { config: { api_key?: string } } };
    return model_client.config.api_key;
  });
}

describe("a version that is restored", () => {
  test("gets the present secret for the same agent and host, whatever else was changed", async () => {
    const version = team(agent("a", "old", {}, { system_message: "Write." }));
    const present = team(agent("a", "new", { model: "gpt-4o-mini" }, { system_message: "Rhyme." }));
    expect(await keysOf(version, present)).toEqual(["new"]);
    const moved = team(agent("b", "of b"), agent("a", "new"));
    expect(await keysOf(version, moved)).toEqual(["new"]);
  });

  test("has its own secret for another host, and where the present component has none", async () => {
    const version = team(agent("a", "old"), agent("c", "of c"));
    const elsewhere = team(agent("a", "new", { base_url: "https://two.example/v1" }));
    expect(await keysOf(version, elsewhere)).toEqual(["old", "of c"]);
    const referring = team(agent("a", "env:OPENAI_API_KEY"));
    expect(await keysOf(version, referring)).toEqual(["old", "of c"]);
    expect(await keysOf(referring, version)).toEqual(["env:OPENAI_API_KEY"]);
  });
});
