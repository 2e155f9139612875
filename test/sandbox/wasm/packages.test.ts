import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { WasmIsolation } from "../../../sandbox/wasm/isolation.ts";
import { planPackages } from "../../../sandbox/wasm/wheels/plan.ts";
import { run } from "./support.ts";
import { wheel } from "../support/wheel.ts";

const MANY = 1500;

const distribution = {
  "tiny-1.2.0-py3-none-any.whl": wheel("tiny", "1.2.0", {
    "tiny/__init__.py":
      "import base_lib\nLOADED = True\ndef double(x):\n    return base_lib.add(x, x)\n",
    "tiny/data/table.txt": "from the wheel\n",
    "tiny-1.2.0.data/purelib/tiny_extra.py": "WHERE = 'purelib'\n",
    "tiny-1.2.0.data/scripts/tiny": "#!python\n",
  }),
  "Base_Lib-2.0-py3-none-any.whl": wheel("base_lib", "2.0", {
    "base_lib.py": "def add(a, b):\n    return a + b\n",
  }),
  "many-0.1-py2.py3-none-any.whl": wheel("many", "0.1", {
    "many/__init__.py": "",
    ...Object.fromEntries(
      Array.from({ length: MANY }, (_, index) => [`many/m${index}.py`, `N = ${index}\n`]),
    ),
  }),
  "broken-1.0-py3-none-any.whl": Buffer.from("this is no zip file"),
  "raises-1.0-py3-none-any.whl": wheel("raises", "1.0", {
    "raises.py": "raise RuntimeError('not here')\n",
  }),
  "changed-1.0-py3-none-any.whl": wheel("changed", "1.0", { "changed.py": "" }),
};

type File = keyof typeof distribution;

function hash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function locked(name: string, version: string, file: File, more: object = {}): object {
  return {
    name,
    version,
    file_name: file,
    sha256: hash(distribution[file]),
    depends: [],
    imports: [name],
    package_type: "package",
    install_dir: "site",
    ...more,
  };
}

const LOCK = {
  info: { python: "3.14.2" },
  packages: {
    tiny: locked("tiny", "1.2.0", "tiny-1.2.0-py3-none-any.whl", { depends: ["base.lib"] }),
    "base-lib": locked("Base-Lib", "2.0", "Base_Lib-2.0-py3-none-any.whl", {
      imports: ["base_lib"],
    }),
    many: locked("many", "0.1", "many-0.1-py2.py3-none-any.whl"),
    broken: locked("broken", "1.0", "broken-1.0-py3-none-any.whl"),
    raises: locked("raises", "1.0", "raises-1.0-py3-none-any.whl"),
    changed: locked("changed", "1.0", "changed-1.0-py3-none-any.whl", { sha256: "0".repeat(64) }),
    gone: locked("gone", "1.0", "tiny-1.2.0-py3-none-any.whl", {
      file_name: "gone.whl",
      sha256: "1".repeat(64),
    }),
    orphan: locked("orphan", "1.0", "tiny-1.2.0-py3-none-any.whl", { depends: ["nobody"] }),
    linear: locked("linear", "1.0", "tiny-1.2.0-py3-none-any.whl", { depends: ["blas"] }),
    blas: locked("blas", "1.0", "tiny-1.2.0-py3-none-any.whl", {
      file_name: "blas.zip",
      package_type: "shared_library",
    }),
  },
};

let directory: string;
let server: Server;
let asked: string[] = [];
let url: string;
let lockFile: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "packages-"));
  lockFile = join(directory, "lock.json");
  await writeFile(lockFile, JSON.stringify(LOCK));
  server = createServer((request, response) => {
    const name = (request.url ?? "").replace(/^\/full\//, "");
    asked.push(name);
    const bytes = distribution[name as File] as Uint8Array | undefined;
    response.writeHead(bytes === undefined ? 404 : 200).end(bytes);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/full`;
});

afterAll(async () => {
  server.close();
  await rm(directory, { recursive: true });
});

afterEach(() => {
  asked = [];
});

/** An interpreter with packages, and what was logged. */
async function start(
  packages: string[],
  { cache = "cache", baseUrl = url }: { cache?: string; baseUrl?: string } = {},
) {
  const logged: string[] = [];
  const log = (line: string): void => void logged.push(line);
  const cacheDirectory = join(directory, cache);
  const plan = await planPackages({ packages, baseUrl, lockFile, cacheDirectory, log });
  const isolation = new WasmIsolation({ cacheDirectory, poolSize: 0, packages: plan, log });
  await isolation.start();
  const runner = await isolation.runner();
  return {
    logged,
    packages: isolation.languages[0]?.packages,
    python: (code: string) => run(runner, "python", code),
    async [Symbol.asyncDispose](): Promise<void> {
      await runner.close();
      await isolation.close();
    },
  };
}

describe("packages of the lock file", () => {
  test("come with what they need, are fetched once, and are imported in the snapshot", async () => {
    const missing =
      /ModuleNotFoundError: No module named 'numpy'\nThere are the standard library and base_lib, tiny; nothing can be installed\.\n$/;
    const code =
      "import sys\nprint('tiny' in sys.modules)\nimport tiny, tiny_extra, importlib.metadata, importlib.resources\nprint(tiny.double(21), tiny_extra.WHERE, importlib.metadata.version('base_lib'))\nprint((importlib.resources.files('tiny') / 'data/table.txt').read_text(), end='')";
    const output = "True\n42 purelib 2.0\nfrom the wheel\n";
    {
      await using started = await start(["tiny"]);
      expect(started.logged).toEqual([]);
      expect(started.packages).toEqual([
        { name: "Base-Lib", version: "2.0" },
        { name: "tiny", version: "1.2.0" },
      ]);
      for (let block = 0; block < 2; block++)
        expect(await started.python(code)).toMatchObject({ output, exitCode: 0 });
      expect((await started.python("import numpy")).output).toMatch(missing);
      // Every block finds them as they were.
      await started.python("import tiny\ntiny.LOADED = False");
      expect((await started.python("import tiny\nprint(tiny.LOADED)")).output).toBe("True\n");
      expect(
        (await started.python("with open(__import__('tiny').__file__, 'a') as f: f.write('x')"))
          .output,
      ).toContain("Read-only file system");
    }
    expect(asked.toSorted()).toEqual([
      "Base_Lib-2.0-py3-none-any.whl",
      "tiny-1.2.0-py3-none-any.whl",
    ]);
    asked = [];
    await using offline = await start(["tiny"], { baseUrl: "http://127.0.0.1:1/" });
    expect(offline.logged).toEqual([]);
    expect(await offline.python(code)).toMatchObject({ output, exitCode: 0 });
    expect(asked).toEqual([]);
  }, 180_000);

  test("may have many files", async () => {
    await using started = await start(["many"]);
    const { output, ms } = await started.python(
      `import importlib\nprint(sum(importlib.import_module(f"many.m{n}").N for n in range(${MANY})))`,
    );
    expect(output).toBe(`${(MANY * (MANY - 1)) / 2}\n`);
    expect(ms).toBeLessThan(30_000);
  }, 180_000);

  test("that fail are left out with a reason, and the others are there", async () => {
    await using started = await start([
      "tiny",
      "unknown",
      "changed",
      "gone",
      "orphan",
      "linear",
      "broken",
      "raises",
    ]);
    expect(started.logged).toEqual([
      'SANDBOX_PACKAGES: unknown is left out: the lock file has no package "unknown".',
      'SANDBOX_PACKAGES: orphan is left out: it needs "nobody", which the lock file does not have.',
      "SANDBOX_PACKAGES: linear is left out: it needs the shared library blas, which is not supported.",
      ...started.logged.slice(3, 5),
      "SANDBOX_PACKAGES: broken is left out: zipfile.BadZipFile: File is not a zip file",
      "SANDBOX_PACKAGES: broken cannot be imported: ModuleNotFoundError: No module named 'broken'",
      "SANDBOX_PACKAGES: raises cannot be imported: RuntimeError: not here",
    ]);
    expect(started.logged.slice(3, 5).toSorted()).toEqual([
      expect.stringMatching(
        /^SANDBOX_PACKAGES: changed is left out: http\S+changed-1.0-py3-none-any.whl has the hash [0-9a-f]{64}, and 0{64} is expected\.$/,
      ),
      expect.stringMatching(
        /^SANDBOX_PACKAGES: gone is left out: http\S+gone.whl cannot be fetched: HTTP 404\.$/,
      ),
    ]);
    expect(started.packages?.map(({ name }) => name)).toEqual(["Base-Lib", "raises", "tiny"]);
    expect((await started.python("import tiny\nprint(tiny.double(1))")).output).toBe("2\n");
  }, 180_000);

  test("are left out offline, and the service runs without them", async () => {
    await using started = await start(["tiny"], { cache: "empty", baseUrl: "http://127.0.0.1:1" });
    expect(started.logged).toEqual([
      expect.stringMatching(
        /^SANDBOX_PACKAGES: tiny is left out: \S+\.whl cannot be fetched: .+\.$/,
      ),
    ]);
    expect(started.packages).toEqual([]);
    const { output } = await started.python("print(1)\nimport tiny");
    expect(output).toMatch(/^1\n[\s\S]*ModuleNotFoundError: No module named 'tiny'\n$/);
  }, 180_000);

  test("in the cache that were changed are fetched again", async () => {
    const cacheDirectory = join(directory, "damaged");
    const plan = () =>
      planPackages({ packages: ["many"], baseUrl: url, lockFile, cacheDirectory, log: fail });
    const [first] = (await plan()).wheels;
    await writeFile(first?.file ?? "", "damaged");
    expect((await plan()).wheels).toEqual([first]);
    expect(asked).toHaveLength(2);
    expect(await readdir(join(cacheDirectory, "wheels"))).toHaveLength(1);
  });
});

function fail(line: string): never {
  throw new Error(line);
}

describe("wheels by path or address", () => {
  test("are installed when they are pure and have the hash that is given", async () => {
    const folder = join(directory, "own");
    await mkdir(folder);
    const path = join(folder, "own-3.1-py3-none-any.whl");
    await writeFile(path, wheel("own", "3.1", { "own.py": "NAME = 'own'\n" }));
    const base = `${url}/Base_Lib-2.0-py3-none-any.whl`;
    const right = hash(distribution["Base_Lib-2.0-py3-none-any.whl"]);
    await using started = await start([
      path,
      `${base}#sha256=${right}`,
      `${url}/many-0.1-py2.py3-none-any.whl#sha256=${right}`,
      join(folder, "native-1.0-cp314-cp314-linux_x86_64.whl"),
      join(folder, "missing-1.0-py3-none-any.whl"),
    ]);
    expect(started.packages).toEqual([
      { name: "Base_Lib", version: "2.0" },
      { name: "own", version: "3.1" },
    ]);
    expect(started.logged.toSorted()).toEqual([
      expect.stringContaining("missing-1.0-py3-none-any.whl is left out: ENOENT"),
      expect.stringContaining("must be pure Python"),
      expect.stringContaining("has the hash"),
    ]);
    expect(
      (await started.python("import own, base_lib\nprint(own.NAME, base_lib.add(1, 2))")).output,
    ).toBe("own 3\n");
  }, 180_000);
});
