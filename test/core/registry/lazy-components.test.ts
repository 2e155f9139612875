import { ComponentError, ComponentRegistry, type JsonObject, type Team } from "troupe";
import { describe, expect, test } from "vitest";
import { type ComponentGroup, LazyComponents } from "#core/registry/lazy-components.ts";
import { componentsOf } from "#core/registry/component-classes.ts";
import * as basicClasses from "#core/registry/basic-classes.ts";
import * as teamClasses from "#core/registry/team-classes.ts";

const basicComponents = () => componentsOf(basicClasses);
const furtherTeams = () => componentsOf(teamClasses);
const groupOf = (load: typeof basicComponents): ComponentGroup => ({
  providers: load().map(({ provider }) => provider),
  load: async () => load(),
});

/** Components in two groups, and which of them were imported. */
function twoGroups(): { components: LazyComponents; imported: string[] } {
  const imported: string[] = [];
  const noted = (name: string, group: ComponentGroup): ComponentGroup => ({
    ...group,
    load: async () => {
      imported.push(name);
      return group.load();
    },
  });
  const groups = [noted("basic", groupOf(basicComponents)), noted("teams", groupOf(furtherTeams))];
  return { components: new LazyComponents(groups, [], {}), imported };
}

const agent = (name: string): JsonObject => ({
  provider: "autogen_agentchat.agents.AssistantAgent",
  config: {
    name,
    model_client: { provider: "ReplayChatCompletionClient", config: { chat_completions: [] } },
  },
});
const team = (...participants: JsonObject[]): JsonObject => ({
  provider: "autogen_agentchat.teams._group_chat._selector_group_chat.SelectorGroupChat",
  config: {
    participants,
    model_client: { provider: "ReplayChatCompletionClient", config: { chat_completions: [] } },
  },
});

describe("components that are imported by name", () => {
  test("are imported when JSON first names one of their group, at any depth and under any of its names", async () => {
    const { components, imported } = twoGroups();
    await components.inspect(agent("a"));
    expect(imported).toEqual(["basic"]);
    const loaded = await components.load<Team>(team(agent("a"), agent("b")), "team");
    expect(loaded.definition.provider).toBe("autogen_agentchat.teams.SelectorGroupChat");
    await components.load(team(team(agent("a"), agent("b")), agent("c")));
    expect(imported).toEqual(["basic", "teams"]);
  });

  test("refuse one of the program's own under a name of theirs", () => {
    const [own] = basicComponents();
    expect(() => new LazyComponents([groupOf(basicComponents)], own ? [own] : [], {})).toThrow(
      `the provider "${own?.provider}" is Troupe's: register another name`,
    );
  });

  test("have the notes of a registry that has everything", async () => {
    const all = new ComponentRegistry().register(...basicComponents(), ...furtherTeams());
    const { config, ...rest } = agent("a");
    const noted = team({ ...rest, config: { ...(config as JsonObject), metadta: {} } }, agent("b"));
    const { components } = twoGroups();
    const { issues, notes } = await components.inspect(noted);
    expect(issues).toEqual([]);
    expect(notes).toEqual(all.notes(noted));
    expect(notes.map(({ path }) => path)).toEqual([
      "component.config.participants[0].config.metadta",
    ]);
  });

  test("are checked like those of a registry that has everything", async () => {
    const all = new ComponentRegistry().register(...basicComponents(), ...furtherTeams());
    for (const wrong of [
      { provider: "autogen_agentchat.teams.Swarn", config: {} },
      { provider: "autogen_agentchat.base.Team", config: {} },
      { provider: "autogen_ext.models.semantic_kernel.SKChatCompletionAdapter", config: {} },
      { provider: "Swarm", config: { participants: [{ provider: "Nobody", config: {} }] } },
      { provider: "Swarm", config: {}, component_version: -1 },
      { provider: 7, config: {} },
      team(...Array.from({ length: 501 }, () => agent("a"))),
      [],
    ]) {
      const { components } = twoGroups();
      expect(await components.inspect(wrong)).toEqual(all.inspect(wrong));
      expect(all.inspect(wrong)).toEqual({ issues: all.validate(wrong), notes: [] });
      const refused = await components.load(wrong).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(ComponentError);
      expect((refused as ComponentError).issues).toEqual(issuesOfLoading(all, wrong));
    }
  });

  test("are all imported for their list", async () => {
    const { components, imported } = twoGroups();
    const all = new ComponentRegistry().register(...basicComponents(), ...furtherTeams());
    expect(await components.definitions()).toEqual(all.definitions());
    expect(imported).toEqual(["basic", "teams"]);
  });

  test("must be those that their group names", async () => {
    const group = { providers: ["a.B"], load: async () => basicComponents() };
    const components = new LazyComponents([group], [], {});
    await expect(components.load({ provider: "B", config: {} })).rejects.toThrow(/names a\.B/);
  });
});

function issuesOfLoading(registry: ComponentRegistry, model: unknown): unknown {
  try {
    registry.load(model);
  } catch (error) {
    if (error instanceof ComponentError) return error.issues;
  }
  return undefined;
}
