import { describe, expect, test } from "vitest";
import {
  BufferedChatCompletionContext,
  Catalog,
  ComponentRegistry,
  ReplayChatCompletionClient,
  SelectorGroupChat,
  UserProxyAgent,
  coreComponents,
  dumpComponent,
  run,
} from "troupe";
import type { JsonObject } from "troupe";

const functions = new Catalog();
const first = (): string => "ann";
functions.registerFunction("ann_first", first);
functions.registerFunction("not_ann", () => ["bob"]);
const registry = new ComponentRegistry({ functions }).register(...coreComponents(functions));

const human = (name: string): JsonObject => dumpComponent(new UserProxyAgent({ name }));
const replay = (...completions: string[]): JsonObject =>
  dumpComponent(new ReplayChatCompletionClient(completions));

const config = {
  name: "chaired",
  description: "A table.",
  participants: [human("ann"), human("bob")],
  model_client: replay("bob"),
  selector_prompt: "{participants}?",
  allow_repeated_speaker: true,
  max_selector_attempts: 5,
  emit_team_events: true,
  model_client_streaming: true,
  max_turns: 1,
};
const team = (changes: JsonObject = {}) => ({
  provider: "autogen_agentchat.teams.SelectorGroupChat",
  component_type: "team",
  version: 1,
  component_version: 1,
  config: { ...config, ...changes },
});

describe("component JSON of a selector", () => {
  test.each<[string, JsonObject]>([
    ["all of AutoGen's keys", {}],
    ["a model context", { model_context: dumpComponent(new BufferedChatCompletionContext(3)) }],
    ["feedback, some of it", { selector_feedback: { many: "One of {participants}!" } }],
    ["functions by their names", { selector_func: "ann_first", candidate_func: "not_ann" }],
  ])("that has %s is dumped as it was loaded", (_what, changes) => {
    expect(dumpComponent(registry.load(team(changes)))).toEqual(team(changes));
  });

  test("may omit fields with a default, or set them to null", () => {
    const { participants, model_client } = config;
    const loaded = registry.load({
      provider: "SelectorGroupChat",
      config: {
        participants,
        model_client,
        name: "",
        description: "",
        model_context: null,
        selector_func: null,
      },
    });
    expect(dumpComponent(loaded).config).toEqual({
      name: "SelectorGroupChat",
      description: "A team of agents.",
      participants,
      model_client,
      selector_prompt: expect.stringContaining("{participants}"),
      allow_repeated_speaker: false,
      max_selector_attempts: 3,
      emit_team_events: false,
      model_client_streaming: false,
    });
  });

  test("is refused with the place of a missing or wrong field", () => {
    const { model_client: _, ...rest } = config;
    expect(
      registry.validate({ provider: "SelectorGroupChat", config: rest }).map(({ path }) => path),
    ).toEqual(["component.config.model_client"]);
    expect(registry.validate(team({ selector_prompt: "{nobody}?" }))).toEqual([
      {
        path: "component.config.selector_prompt",
        message: expect.stringContaining('there is no "nobody", only {roles}'),
      },
    ]);
    expect(registry.validate(team({ max_turns: 0 }))).toEqual([
      { path: "component.config.max_turns", message: "must be greater than 0, not 0" },
    ]);
    expect(registry.validate(team({ selector_func: "ann_frist" }))).toEqual([
      {
        path: "component.config.selector_func",
        message: 'no function named "ann_frist" is registered; did you mean ann_first?',
      },
    ]);
    expect(registry.validate(team({ participants: [human("ann")] }))).toHaveLength(1);
  });

  test("names registered functions of a team in code and leaves out others", () => {
    const made = new SelectorGroupChat(
      [new UserProxyAgent({ name: "ann" }), new UserProxyAgent({ name: "bob" })],
      {
        modelClient: new ReplayChatCompletionClient([]),
        selectorFunc: first,
        candidateFunc: () => ["bob"],
      },
    );
    const dumped = dumpComponent(made).config;
    expect(dumped["selector_func"]).toBe("ann_first");
    expect(dumped).not.toHaveProperty("candidate_func");
  });

  test("has its functions called", async () => {
    const answer = async () => ({ content: "here" });
    const { messages } = await run(
      registry.load<SelectorGroupChat>(team({ selector_func: "ann_first" })),
      { task: "go", answer },
    );
    expect(messages.at(-1)).toMatchObject({ source: "ann", content: "here" });
  });
});
