// Python functions in a component that comes in over HTTP: looked at before anything is stored.
import { describe, expect, test } from "vitest";
import { Catalog, ComponentRegistry, coreComponents } from "troupe";
import type { ComponentModel, PythonHost } from "troupe";
import { functionTool, hostWith } from "../../core/python/support.ts";
import { jsonInit, testApp } from "../../support/http-app.ts";
import { LocalPython } from "../../support/local-python.ts";

const ADD = "def add(a: int, b: int = 1) -> int:\n    return a + b\n";
const TOOL = ".config.participants[0].config.workbench[0].config.tools[0].config";

function team(source: string): ComponentModel {
  const agent = {
    provider: "autogen_agentchat.agents.AssistantAgent",
    config: {
      name: "helper",
      description: "Helps.",
      reflect_on_tool_use: false,
      tool_call_summary_format: "{result}",
      model_client: {
        provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
        config: { chat_completions: ["Done."] },
      },
      workbench: [
        {
          provider: "autogen_core.tools.StaticWorkbench",
          config: { tools: [functionTool(source)] },
        },
      ],
    },
  };
  return JSON.parse(
    JSON.stringify({
      provider: "autogen_agentchat.teams.RoundRobinGroupChat",
      config: { participants: [agent], max_turns: 1 },
    }),
  );
}

function app(python: PythonHost) {
  const components = new ComponentRegistry().register(...coreComponents(new Catalog(), python));
  const template = { name: "adder", description: "Adds.", component: team(ADD) };
  return testApp({ components, templates: async () => [template] });
}

describe("a component with Python functions", () => {
  test("is stored with its parameters, from a body, from a template, and when it is replaced", async () => {
    const python = new LocalPython();
    const { fetch } = app(python);
    const stored = async (answer: Response): Promise<string> => {
      expect(answer.ok).toBe(true);
      return JSON.stringify(await answer.json());
    };
    const parameters = '"troupe":{"parameters":{"type":"object","properties":{"a":';
    expect(
      await stored(await fetch("/v1/teams", jsonInit({ id: "a", component: team(ADD) }))),
    ).toContain(parameters);
    expect(
      await stored(await fetch("/v1/teams", jsonInit({ id: "b", template: "adder" }))),
    ).toContain(parameters);
    const other = team(ADD.replace("add", "plus"));
    expect(
      await stored(await fetch("/v1/teams/a/component", jsonInit({ component: other }, "PUT"))),
    ).toContain(parameters);
    expect((await fetch("/v1/components/validate", jsonInit({ component: other }))).status).toBe(
      200,
    );
    expect(python.ran).toHaveLength(4);
    expect(await (await fetch("/v1/teams/a")).json()).toMatchObject({
      notes: expect.arrayContaining([
        { path: `component${TOOL}.source_code`, message: "runs in the sandbox of this server" },
      ]) as unknown,
    });
  });

  test("is refused with the place of each mistake", async () => {
    const { fetch } = app(new LocalPython());
    const component = team("def f(a): pass\n");
    for (const [path, body] of [
      ["/v1/teams", { id: "a", component }],
      ["/v1/components/validate", { component }],
    ] as const) {
      const answer = await fetch(path, jsonInit(body));
      expect(answer.status).toBe(422);
      expect(await answer.json()).toMatchObject({
        code: "invalid_component",
        errors: [
          { path: `component${TOOL}.source_code`, message: expect.stringMatching(/annotation/) },
        ],
      });
    }
    expect((await fetch("/v1/teams/a")).status).toBe(404);
  });

  test("is not created while the sandbox cannot be reached", async () => {
    const down = hostWith(async () => {
      throw new Error("unreachable");
    });
    const { fetch } = app(down);
    const answer = await fetch("/v1/teams", jsonInit({ id: "a", component: team(ADD) }));
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({ code: "sandbox_unavailable" });
    expect((await fetch("/v1/teams/a")).status).toBe(404);
  });
});
