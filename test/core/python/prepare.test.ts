// How Python functions in component JSON get their schemas before they are loaded.
import { describe, expect, test } from "vitest";
import { Catalog, FunctionTool, TroupeError, dumpComponent } from "troupe";
import { errorMessage } from "#core/errors.ts";
import type { JsonObject, Tool } from "troupe";
import { runBlock } from "#core/python/python-host.ts";
import { LocalPython } from "../../support/local-python.ts";
import { functionTool, hostWith, registryWith, workbench } from "./support.ts";

const ADD = "def add(a: int, b: int = 1) -> int:\n    return a + b\n";

describe("preparing", () => {
  test("asks about all functions of a component in one go and keeps the answers in the JSON", async () => {
    const python = new LocalPython();
    const registry = registryWith(python);
    const json = workbench(functionTool(ADD, { name: "a" }), functionTool(ADD, { name: "b" }));
    const before = structuredClone(json);
    const prepared = await registry.prepare(json);
    expect(json).toEqual(before);
    expect(python.ran).toHaveLength(1);
    expect(python.ran[0]).toMatchObject({ timeout: 10 });
    const again = registryWith(python);
    expect(again.validate(prepared)).toEqual([]);
    expect(await again.prepare(prepared)).toBe(prepared);
    expect(python.ran).toHaveLength(1);
    expect(python.open).toBe(2);
  });

  test("what was found out is dumped again, and found out again for another source", async () => {
    const python = new LocalPython();
    const registry = registryWith(python);
    const tool = registry.load<Tool>(await registry.prepare(functionTool(ADD)));
    expect(tool.schema.parameters).toMatchObject({ required: ["a"] });
    const dumped = dumpComponent(tool);
    expect(registry.load<Tool>(dumped).schema).toEqual(tool.schema);
    dumped.config["source_code"] = ADD.replace(" = 1", "");
    expect(() => registry.load(dumped)).toThrow(/registry\.prepare/);
    const changed = registry.load<Tool>(await registry.prepare(dumped));
    expect(changed.schema.parameters).toMatchObject({ required: ["a", "b"] });
  });

  test("leaves alone what there is nothing to find out about, good or bad", async () => {
    const catalog = new Catalog();
    const parameters = { type: "object", properties: {} };
    catalog.registerTool(
      new FunctionTool({ name: "f", description: "", parameters, execute: () => "registered" }),
    );
    const python = new LocalPython();
    for (const json of [
      functionTool(ADD),
      functionTool("", { name: "g" }),
      { provider: "unknown", config: {} },
      { ...functionTool(ADD), config: { source_code: ADD } },
      "text",
      null,
    ]) {
      expect(await registryWith(python, catalog).prepare(json)).toBe(json);
    }
    expect(await registryWith().prepare(functionTool(ADD))).toEqual(functionTool(ADD));
    expect(python.ran).toEqual([]);
  });

  test("asks again for what the sandbox cut off", async () => {
    const local = new LocalPython();
    const scratch = local.scratch(10);
    const brief = hostWith(async (blocks, attempt) => {
      const { exit_code, output } = await runBlock(scratch, blocks[0]!, attempt);
      return { exit_code, output: output.slice(0, 700) };
    });
    const registry = registryWith(brief);
    const tools = ["a", "b", "c"].map((name) => functionTool(ADD, { name }));
    expect(registry.validate(await registry.prepare(workbench(...tools)))).toEqual([]);
    expect(local.ran.length).toBeGreaterThan(1);
  });

  test("does not mix the functions of two components that come in at once", async () => {
    const python = new LocalPython();
    const registry = registryWith(python);
    await Promise.all([
      registry.prepare(functionTool(ADD)),
      registry.prepare(functionTool(ADD, { name: "g" })),
    ]);
    expect(python.ran).toHaveLength(2);
  });
});

test("packages that a function imports when it is called, and the sandbox does not have, are in the notes", async () => {
  const source = `
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import checked_only

def f() -> str:
    import json, pandas.io
    from sklearn import svm
    try:
        import orjson
    except ImportError:
        orjson = json
    return "never"

def helper():
    import pandas
    from autogen_core import CancellationToken
    from autogen_core.models import UserMessage
`;
  const registry = registryWith(new LocalPython());
  const prepared = await registry.prepare(workbench(functionTool(ADD), functionTool(source)));
  expect(registry.validate(prepared)).toEqual([]);
  const path = (index: number) => `component.config.tools[${index}].config.source_code`;
  expect(registry.notes(prepared)).toEqual([
    { path: path(0), message: "runs in the sandbox of this server" },
    { path: path(1), message: "runs in the sandbox of this server" },
    {
      path: path(1),
      message: expect.stringMatching(
        /no Python packages "pandas", "sklearn", "autogen_core\.models" .*container.*register a tool "f" in TypeScript/,
      ),
    },
  ]);
});

describe("mistakes in a function are reported when it is loaded", () => {
  test.each<[about: string, source: string, config: JsonObject, path: string, message: RegExp]>([
    ["syntax", "def f(:\n    pass\n", {}, "source_code", /invalid syntax \(line 1\)/],
    ["no function", "x = 1\n", {}, "source_code", /defines no function/],
    ["no function any more", "def f(): pass\nf = 1\n", {}, "source_code", /f is not a function/],
    ["no annotation", "def f(a): pass\n", {}, "source_code", /parameter a has no type/],
    ["unknown type", "def f(a: Foo): pass\n", {}, "source_code", /NameError.*Foo.*global_imports/],
    ["impossible type", "def f(a: Exception): pass\n", {}, "source_code", /type of a cannot/],
    ["an error", "raise ValueError('no')\ndef f(): pass\n", {}, "source_code", /ValueError: no/],
    ["an end", "import os; os._exit(7)\ndef f(): pass\n", {}, "source_code", /exit code 7/],
    [
      "import",
      "def f(): pass\n",
      { global_imports: ["sys", "nope"] },
      "global_imports[1]",
      /No module named 'nope': .*no Python package "nope".*container.*register a tool "f"/,
    ],
    ["strict", "def f(a: int = 1): pass\n", { strict: true }, "", /strict.*a can be left out/],
  ])("%s", async (_about, source, config, path, message) => {
    const registry = registryWith(new LocalPython());
    const good = functionTool(ADD, { name: "good" });
    const json = workbench(good, functionTool(source, config), good);
    const place = `component.config.tools[1].config${path && `.${path}`}`;
    expect(registry.validate(await registry.prepare(json))).toEqual([
      { path: place, message: expect.stringMatching(message) },
    ]);
  });

  test("descriptions that are too long for a component, and answers of its own making", async () => {
    const long = () => functionTool(`${ADD}\nadd.__doc__ = "x" * 300_000\n`);
    const forge = `import gc, os
def f(): pass
deep = '{"a":' * 20000 + "1" + "}" * 20000
for writer in [it for it in gc.get_objects() if type(it).__name__ == "AnswerWriter"]:
    writer.out.write('\\n' + writer.mark + '{"number":0,"finding":{"description":"","parameters":' + deep + '}}\\n')
    writer.out.flush()
os._exit(0)
`;
    const registry = registryWith(new LocalPython());
    const json = workbench(long(), long(), functionTool(forge), functionTool(ADD));
    const place = (index: number) => `component.config.tools[${index}].config.source_code`;
    expect(registry.validate(await registry.prepare(json))).toEqual([
      { path: place(1), message: expect.stringMatching(/too long/) },
      { path: place(2), message: "cannot be loaded: exit code 0" },
    ]);
  });

  test("a source that never ends is told from the ones after it", async () => {
    const local = new LocalPython();
    const quick = { executor: () => local.executor(), scratch: () => local.scratch(1) };
    const json = workbench(functionTool("while True: pass\ndef f(): pass\n"), functionTool(ADD));
    const registry = registryWith(quick);
    expect(registry.validate(await registry.prepare(json))).toEqual([
      {
        path: "component.config.tools[0].config.source_code",
        message: "cannot be loaded: exit code 124",
      },
    ]);
  });
});

test("without a sandbox, a function that is not registered is refused, and the setting named", () => {
  expect(registryWith().validate(functionTool(ADD))).toEqual([
    {
      path: "component.config.name",
      message: expect.stringMatching(/"f" is registered.*SANDBOX_URL/),
    },
  ]);
});

test("a sandbox that does not answer is not a mistake in the component", async () => {
  const down = hostWith(async () => {
    throw new Error("connection refused");
  });
  const error = await registryWith(down)
    .prepare(functionTool(ADD))
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(TroupeError);
  expect(error).toMatchObject({ code: "sandbox_unavailable" });
  expect(errorMessage(error)).toMatch(/connection refused/);
});
