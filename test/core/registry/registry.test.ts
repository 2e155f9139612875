import * as z from "zod";
import { describe, expect, test } from "vitest";
import {
  Catalog,
  ComponentError,
  ComponentRegistry,
  ValueError,
  coreComponents,
  dumpComponent,
} from "troupe";
import type { AnyComponentDefinition, Component, ComponentDefinition, JsonObject } from "troupe";
import { componentModelSchema } from "#core/component/component-model.ts";

const leafSchema = z.object({
  name: z.string(),
  count: z.int().min(1).default(1),
  ratio: z.number().nullish(),
  quiet: z.boolean().default(false),
});

class Leaf implements Component {
  static readonly component: ComponentDefinition<z.infer<typeof leafSchema>, Leaf> = {
    provider: "garden.plants.Leaf",
    componentType: "leaf",
    role: "agent",
    version: 2,
    configSchema: leafSchema,
    upgrade: (config, version) => {
      if (version < 1) throw new ValueError("too old");
      return { ...config, name: config.title ?? null };
    },
    fromConfig: (config) => {
      if (config.name === "weed") throw new ValueError("weeds do not grow here");
      return new Leaf(config);
    },
  };
  readonly definition = Leaf.component;
  readonly config: z.infer<typeof leafSchema>;
  constructor(config: z.infer<typeof leafSchema>) {
    this.config = config;
  }
  toConfig(): JsonObject {
    return this.config;
  }
}

const branchSchema = z.object({
  parts: z.array(componentModelSchema),
  notes: z.record(z.string(), z.json()).default({}),
});

class Branch implements Component {
  static readonly component: ComponentDefinition<z.infer<typeof branchSchema>, Branch> = {
    provider: "garden.plants.Branch",
    componentType: "branch",
    role: "team",
    version: 1,
    configSchema: branchSchema,
    fromConfig: (config, loader) =>
      new Branch(
        config.parts.map((part, index) =>
          loader.load<Leaf | Branch>(part, ["agent", "team"], `parts[${index}]`),
        ),
      ),
  };
  readonly definition = Branch.component;
  readonly parts: readonly (Leaf | Branch)[];
  constructor(parts: readonly (Leaf | Branch)[]) {
    this.parts = parts;
  }
  toConfig(): JsonObject {
    return { parts: this.parts.map((part) => dumpComponent(part)) };
  }
}

const Pot: AnyComponentDefinition = {
  provider: "garden.tools.Pot",
  componentType: "pot",
  role: "memory",
  version: 1,
  configSchema: z.object({}),
  fromConfig: () => ({ definition: Pot, toConfig: () => ({}) }),
};

const registry = new ComponentRegistry().register(Leaf.component, Branch.component, Pot);

const leaf = (config: JsonObject = {}): JsonObject => ({
  provider: "garden.plants.Leaf",
  config: { name: "a", ...config },
});
const branch = (...parts: JsonObject[]): JsonObject => ({
  provider: "garden.plants.Branch",
  config: { parts },
});

function failure(model: unknown, roles?: "agent" | "team"): ComponentError {
  try {
    registry.load(model, roles);
  } catch (error) {
    if (error instanceof ComponentError) return error;
  }
  throw new Error("it loaded");
}

describe("a registry that loads JSON", () => {
  test("dumps the loaded component, with defaults and without unknown keys", () => {
    const loaded = registry.load(branch(leaf({ colour: "green" })));
    expect(dumpComponent(loaded)).toEqual({
      provider: "garden.plants.Branch",
      component_type: "branch",
      version: 1,
      component_version: 1,
      config: {
        parts: [
          {
            provider: "garden.plants.Leaf",
            component_type: "leaf",
            version: 2,
            component_version: 2,
            config: { name: "a", count: 1, quiet: false },
          },
        ],
      },
    });
  });

  test.each(["Leaf", "garden.plants._leaf.Leaf"])("knows a class as %s, too", (provider) => {
    expect(registry.load({ ...leaf(), provider })).toBeInstanceOf(Leaf);
  });

  test("accepts numbers and booleans that are written as text", () => {
    const { config } = registry.load<Leaf>(leaf({ count: "7", ratio: "0.5", quiet: "yes" }));
    expect(config).toEqual({ name: "a", count: 7, ratio: 0.5, quiet: true });
    expect(registry.load({ ...leaf(), version: "2", component_version: "2" })).toBeInstanceOf(Leaf);
  });

  test.each<JsonObject>([{ count: "many" }, { count: "1.5" }, { quiet: "perhaps" }, { name: 7 }])(
    "refuses %o",
    (config) => {
      const { kind, issues } = failure(leaf(config));
      expect(kind).toBe("validation");
      expect(issues.map(({ path }) => path)).toEqual([
        `component.config.${Object.keys(config)[0]}`,
      ]);
    },
  );

  test("ignores component-like values where no component is loaded", () => {
    const model = {
      provider: "Branch",
      config: { parts: [], notes: { x: { provider: "no", config: {} } } },
    };
    expect(registry.load(model)).toBeInstanceOf(Branch);
    expect(registry.validate(model)).toEqual([]);
  });
});

describe("a registry that meets a version", () => {
  test.each([null, 0, 2, 3])("loads version %s as the present one", (component_version) => {
    expect(registry.load({ ...leaf(), component_version })).toBeInstanceOf(Leaf);
  });

  test("upgrades an older config", () => {
    const model = { ...leaf({ title: "old" }), component_version: 1 };
    expect(registry.load<Leaf>(model).config.name).toBe("old");
  });

  test("reports the error that an upgrade throws", () => {
    expect(failure({ ...leaf(), component_version: -1 })).toMatchObject({
      kind: "value",
      issues: [{ path: "component.config", message: "too old" }],
    });
  });

  test("refuses an older config of a class that cannot upgrade it", () => {
    const strict = new ComponentRegistry().register({ ...Pot, version: 3 });
    expect(() => strict.load({ provider: "Pot", component_version: 2, config: {} })).toThrow(
      expect.objectContaining({ kind: "old_version", code: "component_old_version" }),
    );
  });

  test("only shows `version`", () => {
    expect(registry.load({ ...leaf(), version: 1 })).toBeInstanceOf(Leaf);
  });
});

describe("a registry that cannot load JSON", () => {
  test("names providers that look like an unknown one", () => {
    const error = failure({ provider: "garden.plants.Laef", config: {} });
    expect(error.kind).toBe("unknown_provider");
    expect(error.message).toContain("did you mean garden.plants.Leaf");
    expect(error.data).toEqual({ near_matches: ["garden.plants.Leaf"] });
  });

  test.each(["plainword", "constructor", "constructor.x", "os.system", ""])(
    "does not know %o",
    (provider) => {
      expect(failure({ provider, config: {} }).kind).toBe("unknown_provider");
    },
  );

  test("distinguishes a class that is not a component from one that does not exist", () => {
    const provider = "autogen_agentchat.messages.TextMessage";
    expect(failure({ provider, config: {} }).kind).toBe("wrong_type");
  });

  test.each([
    [{ config: {} }, "component.provider"],
    [{ provider: "Leaf" }, "component.config"],
    [{ provider: "Leaf", config: [] }, "component.config"],
    ["Leaf", "component"],
    [null, "component"],
  ])("requires provider and config: %o", (model, path) => {
    const { kind, issues } = failure(model);
    expect(kind).toBe("validation");
    expect(issues.map((issue) => issue.path)).toEqual([path]);
  });

  test("checks the requested role", () => {
    expect(failure(leaf(), "team").kind).toBe("wrong_type");
    expect(failure(branch(leaf(), { provider: "Pot", config: {} }))).toMatchObject({
      kind: "wrong_type",
      issues: [{ path: "component.config.parts[1].provider" }],
    });
  });

  test("names the place where a nested component failed", () => {
    expect(failure(branch(branch(leaf({ name: "weed" }))))).toMatchObject({
      kind: "value",
      issues: [
        {
          path: "component.config.parts[0].config.parts[0].config",
          message: "weeds do not grow here",
        },
      ],
    });
  });
});

describe("the validation", () => {
  test("finds all faults at once", () => {
    const model = branch(
      leaf({ count: 0, quiet: 3 }),
      branch({ provider: "Lef", config: {} }, leaf({ name: "weed" })),
      { ...leaf(), component_version: 1 },
      { provider: "Pot", config: {} },
    );
    expect(registry.validate(model).map(({ path }) => path)).toEqual([
      "component.config.parts[0].config.count",
      "component.config.parts[0].config.quiet",
      "component.config.parts[1].config.parts[0].provider",
      "component.config.parts[1].config.parts[1].config",
      "component.config.parts[2].config.name",
    ]);
  });

  test("looks into components whose own config is bad", () => {
    const model = { provider: "Branch", config: { parts: "none", extra: [leaf({ count: 0 })] } };
    expect(registry.validate(model).map(({ path }) => path)).toEqual([
      "component.config.parts",
      "component.config.extra[0].config.count",
    ]);
  });

  test("finds a wrong role among good components", () => {
    const model = branch(leaf(), { provider: "Pot", config: {} });
    expect(registry.validate(model).map(({ path }) => path)).toEqual([
      "component.config.parts[1].provider",
    ]);
  });

  test("reports nothing for good JSON", () => {
    expect(registry.validate(branch(leaf(), branch(leaf())), "team")).toEqual([]);
  });
});

describe("the functions of a registry", () => {
  const Bell: AnyComponentDefinition = {
    provider: "garden.tools.Bell",
    componentType: "bell",
    role: "agent",
    version: 1,
    configSchema: z.object({ ring: z.string() }),
    fromConfig(config, loader) {
      const ring = loader.function<() => string>((config as { ring: string }).ring, "ring");
      return { definition: Bell, toConfig: () => ({ ring: ring() }) };
    },
  };
  const functions = new Catalog();
  functions.registerFunction("ding_dong", () => "dong");
  const sounding = new ComponentRegistry({ functions }).register(Branch.component, Bell);
  const bell = (ring: string): JsonObject => ({ provider: "Bell", config: { ring } });

  test("are found by the name in the JSON", () => {
    expect(dumpComponent(sounding.load(branch(bell("ding_dong")))).config).toMatchObject({
      parts: [{ config: { ring: "dong" } }],
    });
  });

  test("that are not registered are refused with similar names", () => {
    const model = branch(bell("ding_dong"), bell("ding_dang"), branch(bell("toString")));
    const issues = [
      {
        path: "component.config.parts[1].config.ring",
        message: 'no function named "ding_dang" is registered; did you mean ding_dong?',
      },
      {
        path: "component.config.parts[2].config.parts[0].config.ring",
        message: 'no function named "toString" is registered',
      },
    ];
    expect(sounding.validate(model)).toEqual(issues);
    expect(() => sounding.load(model)).toThrow(
      expect.objectContaining({
        kind: "value",
        issues: [issues[0]],
        data: expect.objectContaining({ near_matches: ["ding_dong"] }),
      }),
    );
  });
});

describe("the limits of a registry", () => {
  const nested = (depth: number): JsonObject => (depth === 0 ? leaf() : branch(nested(depth - 1)));

  test("accept 32 nested components and refuse 33", () => {
    expect(registry.load(nested(31))).toBeInstanceOf(Branch);
    expect(failure(nested(32)).message).toContain("deeper than 32");
  });

  test("accept 1000 components and refuse 1001", () => {
    const many = (count: number): JsonObject =>
      branch(...Array.from({ length: count - 1 }, () => leaf()));
    expect(registry.load(many(1000))).toBeInstanceOf(Branch);
    expect(registry.validate(many(1001))[0]?.message).toContain("more than 1000");
  });

  test("refuse values that are nested without end, and do not overflow the stack", () => {
    const deep = JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`);
    expect(failure(leaf({ extra: deep })).kind).toBe("value");
  });

  test("allow a list with more mistakes than a call of a function has arguments", () => {
    const provider = "garden.plants.Listed";
    const configSchema = z.object({ stop: z.union([z.string(), z.array(z.string())]) });
    const listed: ComponentDefinition<z.infer<typeof configSchema>, Leaf> = {
      provider,
      componentType: "leaf",
      role: "agent",
      version: 1,
      configSchema,
      fromConfig: () => new Leaf({ name: "listed", count: 1, quiet: false }),
    };
    const stop = Array.from({ length: 200_000 }, () => 1);
    const issues = new ComponentRegistry().register(listed).validate({
      ...leaf(),
      provider,
      config: { stop },
    });
    expect(issues[0]?.path).toBe("component.config.stop[0]");
    expect(issues).toHaveLength(200_000);
  });

  test("can be set", () => {
    const small = new ComponentRegistry({ depth: 1 }).register(Leaf.component, Branch.component);
    expect(() => small.load(branch(leaf()))).toThrow(ComponentError);
  });
});

describe("a registration", () => {
  test("refuses a second component of the same provider", () => {
    expect(() => registry.register({ ...Leaf.component })).toThrow(ValueError);
    expect(() => registry.register(Leaf.component)).not.toThrow();
  });

  test("appears in the list with the JSON Schema of the config", () => {
    const [first, second] = registry.definitions();
    expect(first?.provider).toBe("garden.plants.Branch");
    expect(second).toMatchObject({
      provider: "garden.plants.Leaf",
      component_type: "leaf",
      component_version: 2,
      config: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
    });
  });
});

describe("keys of a config that its class does not have", () => {
  const shipped = new ComponentRegistry().register(...coreComponents(new Catalog()));
  const notes = (config: JsonObject, provider = "AssistantAgent"): object[] =>
    shipped.notes({ provider, config });
  const model_client = {
    provider: "ReplayChatCompletionClient",
    config: { chat_completions: ["x"] },
  };

  test("are named in a note with the nearest one", () => {
    expect(notes({ name: "a", model_client, sytem_message: "Be brief.", colour: "red" })).toEqual([
      {
        path: "component.config.sytem_message",
        message: 'is not a key of AssistantAgent and has no effect; did you mean "system_message"?',
      },
      {
        path: "component.config.colour",
        message: "is not a key of AssistantAgent and has no effect",
      },
    ]);
  });

  test("are found in components inside and in objects of a config", () => {
    const agent = {
      provider: "AssistantAgent",
      config: { name: "a", model_client, max_tool_iteration: 2 },
    };
    const graph = { nodes: { a: { name: "a", edges: [], activaton: "any" } } };
    const filter = { per_source: [{ source: "user", position: "last", count: 1, cuont: 1 }] };
    const paths = (found: object[]): unknown => found.map((note) => Object.values(note)[0]);
    expect(paths(notes({ participants: [agent], graph }, "GraphFlow"))).toEqual([
      "component.config.graph.nodes.a.activaton",
      "component.config.participants[0].config.max_tool_iteration",
    ]);
    const wrapped = { name: "b", wrapped_agent: agent, filter };
    expect(paths(notes(wrapped, "MessageFilterAgent"))).toEqual([
      "component.config.filter.per_source[0].cuont",
      "component.config.wrapped_agent.config.max_tool_iteration",
    ]);
  });

  test("are ignored if any key may stand there, and those of every tool are known", () => {
    const json_schema = { type: "object", properties: { a: { type: "string", mood: 1 } } };
    const factory = { json_schema, content_model_name: "Mood", format_string: null };
    expect(notes(factory, "StructuredMessageFactory")).toEqual([]);
    const agent = { provider: "UserProxyAgent", config: { name: "a" } };
    expect(notes({ agent, approval: "human", approval_timeout_seconds: 5 }, "AgentTool")).toEqual(
      [],
    );
  });
});
