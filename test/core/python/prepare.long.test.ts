// How Python functions in component JSON get their schemas before they are loaded.
import { runContext } from "#core/turn/run-context.ts";
import { describe, expect, test } from "vitest";
import { Catalog, FunctionTool, TroupeError, dumpComponent } from "troupe";
import { errorMessage } from "#core/errors.ts";
import type { JsonObject, Tool } from "troupe";
import { runBlock } from "#core/python/python-host.ts";
import { LocalPython } from "../../support/local-python.ts";
import { functionTool, hostWith, registryWith, workbench } from "./support.ts";

const ADD = "def add(a: int, b: int = 1) -> int:\n    return a + b\n";
const good = (name: string) => functionTool(ADD, { name });

describe("the preparation of Python functions", () => {
  test("asks about all functions of a component in one request and keeps the answers in the JSON", async () => {
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

  test("dumps its results again, and asks again for another source", async () => {
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

  test("asks again about a function that lacked a package, which may be there by now", async () => {
    const python = new LocalPython();
    const registry = registryWith(python);
    const prepared = await registry.prepare(functionTool("import httpx\n" + ADD));
    await registry.prepare(prepared);
    expect(python.ran).toHaveLength(2);
  });

  test("names no package and no interpreter that a source forges as a line for a shell", async () => {
    const forge = `import gc, httpx, os
def f(): pass
finding = {"description": "", "parameters": {}, "python": "/bin/sh -c 'x'", "missing": ["httpx; reboot"]}
for writer in [it for it in gc.get_objects() if type(it).__name__ == "AnswerWriter"]:
    writer.write(number=0, finding=finding)
    writer.write(number=0, finding={**finding, "missing": ["httpx"]})
os._exit(0)
`;
    const registry = registryWith(new LocalPython());
    const notes = registry.notes(await registry.prepare(functionTool(forge)));
    expect(JSON.stringify(notes)).toContain("pip install httpx");
    expect(JSON.stringify(notes)).not.toMatch(/reboot|bin\/sh/);
  });

  test("leaves parts alone that need no answer, good or bad", async () => {
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

  test("asks again for the parts that the sandbox cut off", async () => {
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

  test("separates the functions of two components that arrive at once", async () => {
    const python = new LocalPython();
    const registry = registryWith(python);
    await Promise.all([
      registry.prepare(functionTool(ADD)),
      registry.prepare(functionTool(ADD, { name: "g" })),
    ]);
    expect(python.ran).toHaveLength(2);
  });
});

test("packages that a function imports when it is called, and that the sandbox lacks, are in the notes", async () => {
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
  const prepared = await registry.prepare(
    workbench(functionTool(ADD, { name: "add" }), functionTool(source)),
  );
  expect(registry.validate(prepared)).toEqual([]);
  const path = (index: number) => `component.config.tools[${index}].config.source_code`;
  expect(registry.notes(prepared)).toEqual([
    { path: path(0), message: "runs in the sandbox of this server" },
    { path: path(1), message: "runs in the sandbox of this server" },
    {
      path: path(1),
      message: expect.stringMatching(
        /no Python packages "pandas", "sklearn", "autogen_core\.models"\. Run "python3 -m venv \.venv && \.venv\/bin\/pip install pandas scikit-learn autogen-core" and "npm start -- --python \.venv" .*SANDBOX_PACKAGES=pandas,scikit-learn,autogen-core.*register a tool "f" in TypeScript/,
      ),
    },
  ]);
});

test("a source that needs missing packages loads, with a line that installs what all functions lack, and a call fails with it", async () => {
  const source = `
import httpx
from bs4 import BeautifulSoup
from pydantic_missing import BaseModel

client = httpx.Client(timeout=3)

class Page(BaseModel, frozen=True):
    soup: BeautifulSoup

@httpx.retry
@httpx.options("x", times=[3])
def f(url: str, depth: int = 1) -> Page:
    return Page(client.get(url))
`;
  const registry = registryWith(new LocalPython());
  const json = functionTool(source, { global_imports: ["json", "yaml_missing"] });
  const other = functionTool("import httpx\n" + ADD, { name: "add" });
  const prepared = await registry.prepare(workbench(json, other));
  expect(registry.validate(prepared)).toEqual([]);
  const notes = registry.notes(prepared).map(({ message }) => message);
  expect(notes.filter((note) => note.includes("pip install"))).toEqual([
    expect.stringMatching(
      /no Python packages "yaml_missing", "httpx", "bs4", "pydantic_missing"\. Run ".*pip install yaml_missing httpx beautifulsoup4 pydantic_missing"/,
    ),
    expect.stringMatching(
      /no Python package "httpx"\. Run ".*pip install httpx yaml_missing beautifulsoup4 pydantic_missing"/,
    ),
  ]);
  const tool = registry.load<Tool>(await registry.prepare(json));
  expect(tool.schema.parameters).toMatchObject({
    properties: { url: { type: "string" }, depth: { type: "integer" } },
    required: ["url"],
  });
  const signal = new AbortController().signal;
  const call = tool.run(
    { url: "x" },
    { signal, idempotencyKey: "k", callId: "c", env: {}, run: runContext({ id: "run" }) },
  );
  await expect(call).rejects.toThrow(
    /No module named 'yaml_missing': the sandbox has no Python packages .* Run ".*pip install yaml_missing httpx/,
  );
});

test("the function with the tool's name is called, else the first of several, with a note", async () => {
  const source =
    "def square(x: int) -> int:\n    return x * x\n\nasync def area(w: int, h: int) -> int:\n    return w * square(h)\n";
  const registry = registryWith(new LocalPython());
  const load = async (name: string): Promise<Tool> =>
    registry.load<Tool>(await registry.prepare(functionTool(source, { name })));
  const signal = new AbortController().signal;
  const run = { signal, idempotencyKey: "k", callId: "c", env: {}, run: runContext({ id: "run" }) };
  const area = await load("area");
  expect(area.schema.parameters).toMatchObject({ required: ["w", "h"] });
  expect(await area.run({ w: 2, h: 3 }, run)).toBe("18");
  expect((await load("square")).schema.parameters).toMatchObject({ required: ["x"] });
  const other = functionTool(source, { name: "volume" });
  expect(registry.notes(await registry.prepare(other)).map(({ message }) => message)).toContain(
    'defines square, area: a call runs square, the first one, because no function is named "volume"',
  );
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
      "a kill",
      "import os; os.kill(os.getpid(), 9)\ndef f(): pass\n",
      {},
      "source_code",
      /exit code 137 \(the process was killed, .*memory.*another attempt may succeed\)/,
    ],
    ["strict", "def f(a: int = 1): pass\n", { strict: true }, "", /strict.*a can be left out/],
  ])("%s", async (_about, source, config, path, message) => {
    const registry = registryWith(new LocalPython());
    const json = workbench(good("before"), functionTool(source, config), good("after"));
    const place = `component.config.tools[1].config${path && `.${path}`}`;
    expect(registry.validate(await registry.prepare(json))).toEqual([
      { path: place, message: expect.stringMatching(message) },
    ]);
  });

  test("if descriptions are too long for a component, or an answer is the function's own", async () => {
    const long = (name: string) => functionTool(`${ADD}\nadd.__doc__ = "x" * 300_000\n`, { name });
    const forge = `import gc, os
def f(): pass
deep = '{"a":' * 20000 + "1" + "}" * 20000
for writer in [it for it in gc.get_objects() if type(it).__name__ == "AnswerWriter"]:
    writer.out.write('\\n' + writer.mark + '{"number":0,"finding":{"description":"","parameters":' + deep + '}}\\n')
    writer.out.flush()
os._exit(0)
`;
    const registry = registryWith(new LocalPython());
    const json = workbench(long("one"), long("two"), functionTool(forge), good("after"));
    const place = (index: number) => `component.config.tools[${index}].config.source_code`;
    expect(registry.validate(await registry.prepare(json))).toEqual([
      { path: place(1), message: expect.stringMatching(/too long/) },
      { path: place(2), message: "cannot be loaded: exit code 0" },
    ]);
  });

  test("if they follow a source that never ends", async () => {
    const local = new LocalPython();
    const quick = { executor: () => local.executor(), scratch: () => local.scratch(1) };
    const json = workbench(functionTool("while True: pass\ndef f(): pass\n"), good("after"));
    const registry = registryWith(quick);
    expect(registry.validate(await registry.prepare(json))).toEqual([
      {
        path: "component.config.tools[0].config.source_code",
        message: "cannot be loaded: exit code 124 (it took longer than it may)",
      },
    ]);
  });
});

test("a function that is not registered is refused without a sandbox, and the setting is named", () => {
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
