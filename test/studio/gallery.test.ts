// A gallery as AutoGen Studio exports it: its teams load here. Their Python functions run in the sandbox, those that need
// the network are registered under their names.
import { describe, expect, test } from "vitest";
import {
  Catalog,
  ComponentRegistry,
  FunctionTool,
  coreComponents,
  dumpComponent,
  openAIComponents,
  type Component,
} from "troupe";
import { LocalPython } from "../support/local-python.ts";
import gallery from "./gallery.json" with { type: "json" };

const [roundRobin, selector, webAgent, deepResearch] = gallery.components.teams;
const WEB_SURFER = "autogen_ext.agents.web_surfer.MultimodalWebSurfer";

function registry(...tools: string[]): ComponentRegistry {
  const catalog = new Catalog();
  for (const name of tools) {
    catalog.registerTool(
      new FunctionTool({ name, description: name, parameters: {}, execute: () => name }),
    );
  }
  return new ComponentRegistry().register(
    ...coreComponents(catalog, new LocalPython()),
    ...openAIComponents({
      fetch,
      env: (name) => (name === "OPENAI_API_KEY" ? "sk-test" : undefined),
      secret: () => "sk-test",
    }),
  );
}

describe("teams of a studio gallery", () => {
  test.each([
    ["round robin", roundRobin],
    ["selector", selector],
    ["deep research", deepResearch],
  ])("load unchanged and with notes: %s", async (_, team) => {
    const components = registry("google_search", "fetch_webpage");
    const prepared = await components.prepare(team);
    expect(components.validate(prepared, "team")).toEqual([]);
    const dumped = dumpComponent(components.load<Component>(prepared, "team"));
    expect(dumped.provider).toBe(team?.provider);
    expect(components.validate(dumped, "team")).toEqual([]);
  });

  test("the web agent's browser is refused by name, with a replacement, and the team loads without it", () => {
    const components = registry();
    expect(components.validate(webAgent, "team")).toEqual([
      {
        path: "component.config.participants[0].provider",
        message: expect.stringMatching(/MultimodalWebSurfer.*browser process.*HttpTool/),
      },
    ]);
    const config = {
      ...webAgent?.config,
      participants: webAgent?.config.participants.filter(({ provider }) => provider !== WEB_SURFER),
    };
    expect(components.validate({ ...webAgent, config }, "team")).toEqual([]);
  });

  test("a Python function whose imports the sandbox lacks has a note with the packages to install", async () => {
    const components = registry("google_search");
    const prepared = await components.prepare(deepResearch);
    expect(components.validate(prepared, "team")).toEqual([]);
    expect(components.notes(prepared)).toContainEqual({
      path: expect.stringMatching(
        /^component\.config\.participants\[0\].*tools\[1\]\.config\.source_code$/,
      ),
      message: expect.stringMatching(/pip install .*httpx/),
    });
  });
});
