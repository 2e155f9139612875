// Calls of Python functions, by a real Python.
import { describe, expect, test } from "vitest";
import type { JsonObject } from "troupe";
import { LocalPython } from "../../support/local-python.ts";
import { functionTool, loaded, toolRun } from "./support.ts";

const TYPING = {
  module: "typing",
  imports: ["Any", "Annotated", "Dict", "List", "Literal", "Optional", "Set", "Tuple", "Union"],
};

/** What the model reads of a call, or the error that it reads. */
async function called(source: string, args: JsonObject, config: JsonObject = {}): Promise<string> {
  const model = functionTool(source, { global_imports: [TYPING], ...config });
  const tool = await loaded(new LocalPython(), model);
  return tool.run(args, toolRun()).then(
    (value) => tool.valueAsText(value),
    (error: Error) => `!! ${error.message}`,
  );
}

/** A function that returns all its arguments. */
function echo(parameters: string, before = ""): string {
  return `${before}\ndef f(${parameters}):\n    return tuple(locals().values())\n`;
}

const CLASSES = `
import dataclasses, enum

@dataclasses.dataclass
class Place:
    city: str
    size: float = 1

@dataclasses.dataclass
class Person:
    name: str
    home: Optional[Place] = None
    size: int = 0

class Color(enum.Enum):
    RED = 'red'
`;

describe("arguments get the types of the annotations", () => {
  test.each<[parameters: string, args: JsonObject, result: string]>([
    ["a: int, b: float, c: str, d: bool", { a: 1, b: 2, c: "x", d: true }, "(1, 2.0, 'x', True)"],
    ["a: int, b: float, d: bool", { a: "3", b: "2.5", d: "yes" }, "(3, 2.5, True)"],
    ["a: int, b: int = 7, c: Optional[str] = None", { a: 3.0, z: 1 }, "(3, 7, None)"],
    [
      "a: List[float], b: Dict[int, str]",
      { a: [1, "2"], b: { "1": "x" } },
      "([1.0, 2.0], {1: 'x'})",
    ],
    ["a: Tuple[int, str], b: Set[int]", { a: ["1", "x"], b: [1, 1] }, "((1, 'x'), {1})"],
    ["a: Union[int, str], b: Union[float, int]", { a: "1", b: 1 }, "('1', 1)"],
    ["a: Union[bool, int], b: 'int | None'", { a: 1, b: null }, "(1, None)"],
    ["a: Literal['x', 1], b: Annotated[int, 'b']", { a: 1, b: "2" }, "(1, 2)"],
    [
      "a: Any, b: list",
      { a: { k: [null, "é\u2028\ud83d\ude00\"'\\"] }, b: [] },
      `({'k': [None, 'é\\u2028😀"\\'\\\\']}, [])`,
    ],
    ["a: Place", { a: { city: "Rome", size: 2, other: 1 } }, "(Place(city='Rome', size=2.0),)"],
    [
      "a: Union[Place, Person]",
      { a: { name: "Ada", home: { city: "Rome" } } },
      "(Person(name='Ada', home=Place(city='Rome', size=1), size=0),)",
    ],
    [
      "a: Color, b: List[Color]",
      { a: "red", b: ["red"] },
      "(<Color.RED: 'red'>, [<Color.RED: 'red'>])",
    ],
    ["a: int, /, *, b: int = 2", { a: 1, b: 3 }, "(1, 3)"],
    ["**more: Dict[str, int]", { more: { x: "1" } }, "({'more': {'x': 1}},)"],
  ])("%s", async (parameters, args, result) => {
    expect(await called(echo(parameters, CLASSES), args)).toBe(result);
  });

  test("unless they do not fit, and then all are named", async () => {
    const args = { a: "x", c: { home: { city: 1 } }, d: [1, "two"] };
    const text = await called(echo("a: int, b: str, c: Person, d: List[int]", CLASSES), args);
    expect(text).toBe(
      "!! invalid arguments: a: must be an integer; b: is missing; c.name: is missing; c.home.city: must be a string; c.home: must be null; d[1]: must be an integer",
    );
  });
});

describe("the text of a result", () => {
  test.each([
    ["'text'", "text"],
    ["None", "None"],
    ["3.0", "3.0"],
    ["True", "True"],
    ["{'a': [1, None], 'b': 'it\\'s'}", `{'a': [1, None], 'b': "it's"}`],
    ["'two\\nlines\\u2028\\ud800'", "two\nlines\u2028?"],
  ])("is Python's for %s", async (value, text) => {
    expect(await called(`def f() -> Any:\n    return ${value}\n`, {})).toBe(text);
  });

  test("is separated from the function's own output, whatever that is", async () => {
    const source = `
def f(a: str) -> str:
    print('{"text": "mine"}')
    sys.stderr.write("error\\n")
    sys.__stdout__.write("#troupe-0:{}\\n")
    os.write(1, b'{"text": "mine"}')
    sys.stdout.close()
    return a
`;
    expect(await called(source, { a: "result" }, { global_imports: ["sys", "os"] })).toBe("result");
  });

  test("is cut if it is too long, with a note", async () => {
    const text = await called("def f() -> str:\n    return 'é\\n' * 1_000_000\n", {});
    expect(text).toMatch(
      /^(é\n)+é?\n?\[Cut: the result had 2000000 characters, \d+ are shown\.\]$/,
    );
    expect(text.length).toBeGreaterThan(300_000);
  });
});

describe("functions", () => {
  test("may be asynchronous, have helpers, classes and imports, and a description of their own", async () => {
    const source = `
async def f(a: int) -> P.Path:
    """Finds the place."""
    await asyncio.sleep(0)
    return helper(a)

def helper(a):
    return P.PurePosixPath("/x") / str(a)
`;
    const config = { global_imports: ["asyncio", { name: "pathlib", alias: "P" }] };
    expect(await called(source, { a: 1 }, config)).toBe("/x/1");
    const model = functionTool(source, config);
    delete model.config["description"];
    expect((await loaded(new LocalPython(), model)).description).toBe("Finds the place.");
  });

  test("may use the names of typing without an import, as code from notebooks does", async () => {
    const source = `
def f(a: Optional[List[int]], b: Literal["x"], c: Annotated[Dict[str, Any], "c"] = {}) -> str:
    return f"{a} {b} {c} {Tuple[int]}"

List = List
`;
    const args = { a: ["1"], b: "x" };
    expect(await called(source, args, { global_imports: [] })).toBe("[1] x {} typing.Tuple[int]");
  });

  test("get a token that is never cancelled, and the names that AutoGen's functions import", async () => {
    const source = `
from typing_extensions import Annotated
def f(a: Annotated[int, "A number."], cancellation_token: CancellationToken) -> str:
    return f"{a} {cancellation_token.is_cancelled()}"
`;
    const global_imports = [{ module: "autogen_core", imports: ["CancellationToken"] }];
    expect(await called(source, { a: 1 }, { global_imports })).toBe("1 False");
  });

  test.each([
    ["raise ValueError('not that')", "not that"],
    ["raise KeyError", "KeyError"],
    ["return {}['k']", "'k'"],
    ["raise SystemExit(3)", "the function ended the interpreter: 3"],
    [
      "import os; os.write(1, b'bye'); os._exit(3)",
      "the function did not return: exit code 3: bye",
    ],
    [
      "import no_such_module",
      `No module named 'no_such_module': the sandbox has no Python package "no_such_module". Run "python3 -m venv .venv && .venv/bin/pip install no_such_module" and "npm start -- --python .venv" (SANDBOX_NETWORK=1 gives code the network), start the sandbox with SANDBOX_PACKAGES=no_such_module, or register a tool "f" in TypeScript`,
    ],
  ])("that fail report the reason: %s", async (body, message) => {
    expect(await called(`def f() -> int:\n    ${body}\n`, {})).toBe(`!! ${message}`);
  });

  test("run under the step's key, in the team's session", async () => {
    const python = new LocalPython();
    const tool = await loaded(python, functionTool("def f() -> int:\n    return 1\n"));
    await tool.run({}, { ...toolRun("turn/tool:0"), session: "of the team" });
    await tool.run({}, { ...toolRun("turn/tool:0"), session: "of the team" });
    const [, first, again] = python.ran;
    expect(first?.attempt).toMatchObject({ idempotencyKey: "turn/tool:0", session: "of the team" });
    // The sandbox knows a repeated request by its code.
    expect(again?.blocks).toEqual(first?.blocks);
    expect(tool.policy).toBe("retry");
  });
});
