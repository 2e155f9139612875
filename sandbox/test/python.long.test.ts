import { createServer, type Server } from "node:http";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasProgram } from "../../test/support/programs.ts";
import { PythonEnvironment } from "../../test/support/python-environment.ts";
import { Sandbox } from "../../test/support/sandbox.ts";
import { readSettings } from "../settings.ts";
import { wheel } from "./support/wheel.ts";

let environment: PythonEnvironment;

beforeAll(async () => {
  environment = await PythonEnvironment.make();
});

afterAll(() => environment[Symbol.asyncDispose]());

async function output(sandbox: Sandbox, language: string, code: string): Promise<string> {
  const response = await sandbox.execute("one", [[language, code]]);
  return ((await response.json()) as { output: string }).output;
}

describe("SANDBOX_PYTHON", () => {
  test("runs Python, and the programs of shells, in the virtual environment that it names", async () => {
    await using sandbox = await Sandbox.start({ settings: { SANDBOX_PYTHON: environment.path } });
    expect(await output(sandbox, "python", "import sys; print(sys.prefix)")).toBe(
      `${environment.path}\n`,
    );
    expect(await output(sandbox, "sh", "command -v python3; command -v pip")).toBe(
      `${environment.path}/bin/python3\n${environment.path}/bin/pip\n`,
    );
    const languages = (await (await sandbox.request("/v1/languages")).json()) as {
      languages: { name: string; packages?: { name: string }[] }[];
    };
    const python = languages.languages.find(({ name }) => name === "python");
    expect(python?.packages?.map(({ name }) => name)).toContain("pip");
  });

  test.skipIf(!hasProgram("bwrap"))("gives code the environment to read only", async () => {
    const settings = { SANDBOX_PYTHON: environment.path };
    await using sandbox = await Sandbox.start({ settings });
    const write = `open("${environment.path}/intruder", "w")`;
    expect(await output(sandbox, "python", write)).toMatch(/Read-only|Permission denied/);
    expect(await output(sandbox, "sh", `ls -A ${environment.folder}`)).toBe(".venv\n");
  });

  test("takes an interpreter, too", async () => {
    const settings = { SANDBOX_PYTHON: environment.program };
    await using sandbox = await Sandbox.start({ settings });
    expect(await output(sandbox, "python", "import sys; print(sys.executable)")).toBe(
      `${environment.program}\n`,
    );
  });

  test.each([
    ["/nowhere/.venv", /is "\/nowhere\/\.venv", which does not exist: it must be the folder/],
    [tmpdir(), /a folder without bin\/python/],
    ["/bin/ls", /which does not run as Python/],
  ])("is refused where it is not a Python: %s", async (python, message) => {
    const start = Sandbox.start({ settings: { SANDBOX_PYTHON: python } });
    await expect(start).rejects.toThrow(message);
    await expect(start).rejects.toThrow(/virtual environment .* or a Python interpreter, version/);
  });

  test.runIf(process.getuid?.() === 0)(
    "is refused where the user that runs code does not reach it",
    async () => {
      await using inside = await PythonEnvironment.make();
      await chmod(inside.folder, 0o700);
      const start = Sandbox.start({ settings: { SANDBOX_PYTHON: inside.path } });
      await expect(start).rejects.toThrow(/the user that runs code cannot start/);
    },
  );

  test("is for processes only", () => {
    expect(() => readSettings({ SANDBOX_PYTHON: "/x" })).toThrow(
      "SANDBOX_PYTHON is for SANDBOX_ISOLATION=process only",
    );
  });
});

describe("SANDBOX_PACKAGES of processes", () => {
  /** An index as pip asks for it, because PyPI cannot be reached everywhere. */
  let index: Server;
  let asked: string[];
  let pip: Record<string, string>;
  let cache: string;

  beforeAll(async () => {
    asked = [];
    const greet = wheel("greet", "1.5", { "greet/__init__.py": "def hello(): return 'hello'\n" });
    index = createServer((request, response) => {
      asked.push(request.url ?? "");
      if (request.url === "/simple/greet/") {
        response.setHeader("content-type", "text/html");
        response.end('<a href="/greet-1.5-py3-none-any.whl">greet-1.5-py3-none-any.whl</a>');
      } else if (request.url === "/greet-1.5-py3-none-any.whl") {
        response.end(greet);
      } else {
        response.statusCode = 404;
        response.end();
      }
    });
    await once(index.listen(0, "127.0.0.1"), "listening");
    const { port } = index.address() as AddressInfo;
    pip = {
      PIP_INDEX_URL: `http://127.0.0.1:${port}/simple/`,
      PIP_CONFIG_FILE: "/dev/null",
      PIP_RETRIES: "0",
    };
    cache = await mkdtemp(join(tmpdir(), "sandbox-cache-"));
    await chmod(cache, 0o755);
  });

  afterAll(async () => {
    index.close();
    await rm(cache, { recursive: true, force: true });
  });

  test("are installed from the index of pip into an environment in the cache, and those that fail are named", async () => {
    const settings = {
      ...pip,
      SANDBOX_CACHE: cache,
      SANDBOX_PACKAGES: "greet>=1,<2, unheard-of",
    };
    await using sandbox = await Sandbox.start({ settings });
    expect(sandbox.firstLines.join("\n")).toMatch(
      /The package unheard-of is left out: .*No matching distribution/,
    );
    const code = "import greet, sys; print(greet.hello(), sys.prefix)";
    expect(await output(sandbox, "python", code)).toMatch(
      new RegExp(`^hello ${cache}/python-[0-9a-f]{8}\n$`),
    );
  });

  test("are there at the next start without the index", async () => {
    asked = [];
    const settings = {
      ...pip,
      PIP_INDEX_URL: "http://127.0.0.1:9/simple/",
      SANDBOX_CACHE: cache,
      SANDBOX_PACKAGES: "greet",
    };
    await using sandbox = await Sandbox.start({ settings });
    expect(await output(sandbox, "python", "import greet; print(greet.hello())")).toBe("hello\n");
    expect(sandbox.firstLines.join("\n")).not.toContain("left out");
    expect(asked).toEqual([]);
  });

  test("are installed into the environment that SANDBOX_PYTHON names", async () => {
    const settings = { ...pip, SANDBOX_PYTHON: environment.path, SANDBOX_PACKAGES: "greet" };
    await using sandbox = await Sandbox.start({ settings });
    expect(await output(sandbox, "python", "import greet; print(greet.__file__)")).toContain(
      environment.path,
    );
  });

  test.each([
    ["a, b", ["a", "b"]],
    [
      "httpx[http2,socks], pandas >=2,<3,requests~=2.1, ./x.whl",
      ["httpx[http2,socks]", "pandas >=2,<3", "requests~=2.1", "./x.whl"],
    ],
    ["", []],
  ])("are separated by commas between requirements: %s", (given, packages) => {
    expect(readSettings({ SANDBOX_PACKAGES: given }).packages).toEqual(packages);
  });

  test("take no options of pip", () => {
    expect(() => readSettings({ SANDBOX_PACKAGES: "a,--index-url=http://x" })).toThrow(
      'SANDBOX_PACKAGES has the option "--index-url=http://x": it takes packages only',
    );
  });
});
