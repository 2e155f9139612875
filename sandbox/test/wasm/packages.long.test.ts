import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { WasmIsolation } from "../../wasm/isolation.ts";
import { planPackages } from "../../wasm/wheels/plan.ts";
import { CACHE, type Ran, run } from "./support.ts";
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
  "broken-1.0-py3-none-any.whl": Buffer.from("this is not a zip file"),
  "raises-1.0-py3-none-any.whl": wheel("raises", "1.0", {
    "raises.py": "raise RuntimeError('not here')\n",
  }),
  "changed-1.0-py3-none-any.whl": wheel("changed", "1.0", { "changed.py": "" }),
  "native-0.5-cp314-cp314-pyemscripten_2026_0_wasm32.whl": wheel(
    "native",
    "0.5",
    { "native.so": readFileSync(join(import.meta.dirname, "./native/native.so")) },
    "cp314-cp314-pyemscripten_2026_0_wasm32",
  ),
  "remote-4.0-py3-none-any.whl": wheel("remote", "4.0", { "remote.py": "NAME = 'remote'\n" }),
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
  info: { python: "3.14.2", arch: "wasm32", abi_version: "2026_0" },
  packages: {
    tiny: locked("tiny", "1.2.0", "tiny-1.2.0-py3-none-any.whl", { depends: ["base.lib"] }),
    "base-lib": locked("Base-Lib", "2.0", "Base_Lib-2.0-py3-none-any.whl", {
      imports: ["base_lib"],
    }),
    many: locked("many", "0.1", "many-0.1-py2.py3-none-any.whl"),
    native: locked("native", "0.5", "native-0.5-cp314-cp314-pyemscripten_2026_0_wasm32.whl"),
    broken: locked("broken", "1.0", "broken-1.0-py3-none-any.whl"),
    raises: locked("raises", "1.0", "raises-1.0-py3-none-any.whl"),
    changed: locked("changed", "1.0", "changed-1.0-py3-none-any.whl", { sha256: "0".repeat(64) }),
    gone: locked("gone", "1.0", "tiny-1.2.0-py3-none-any.whl", {
      file_name: "gone-1.0-py3-none-any.whl",
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

const OWN = "own-3.1-py3-none-any.whl";
const REMOTE = "remote-4.0-py3-none-any.whl";

let directory: string;
let server: Server;
let asked: string[] = [];
let url: string;
let lockFile: string;
/** One interpreter for most of the tests: making its snapshot takes long. */
let everything: Started;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "packages-"));
  lockFile = join(directory, "lock.json");
  await writeFile(lockFile, JSON.stringify(LOCK));
  await writeFile(join(directory, OWN), wheel("own", "3.1", { "own.py": "NAME = 'own'\n" }));
  server = createServer((request, response) => {
    const name = (request.url ?? "").replace(/^\/full\//, "");
    asked.push(name);
    const bytes = distribution[name as File] as Uint8Array | undefined;
    response.writeHead(bytes === undefined ? 404 : 200).end(bytes);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/full`;
  everything = await start(packages());
});

afterAll(async () => {
  await everything.close();
  server.close();
  await rm(directory, { recursive: true });
});

/** Those that can be installed, and those that cannot. */
function packages(): string[] {
  return [
    "tiny",
    "many",
    "raises",
    "native",
    join(directory, OWN),
    `${url}/${REMOTE}#sha256=${hash(distribution[REMOTE])}`,
    "broken",
    ...BAD.map(([given]) => given),
  ];
}

/** What cannot be installed, and why. */
const BAD: [given: string, why: string | RegExp][] = [
  ["unknown", 'the lock file has no package "unknown".'],
  ["orphan", 'it needs "nobody", which the lock file does not have.'],
  ["linear", "it needs the shared library blas, which is not supported."],
  [
    "changed",
    /^http\S+changed-1.0-py3-none-any.whl has the hash [0-9a-f]{64}, and 0{64} is expected\.$/,
  ],
  ["gone", /^http\S+gone-1.0-py3-none-any.whl cannot be fetched: HTTP 404\.$/],
  ["/missing-1.0-py3-none-any.whl", /^ENOENT/],
  [`/${OWN}#md5=1`, "after # only sha256=HEX is allowed."],
  [
    "/named.whl",
    "named.whl is not the name of a wheel: NAME-VERSION-PYTHON-ABI-PLATFORM.whl is expected.",
  ],
  [
    "/numpy-2.4.6-cp314-cp314-manylinux_2_28_x86_64.whl",
    "it is built for manylinux_2_28_x86_64: this sandbox runs pure wheels (any) and those for pyemscripten_2026_0_wasm32.",
  ],
  [
    "/numpy-2.2.5-cp313-cp313-pyemscripten_2026_0_wasm32.whl",
    "it is built for cp313 with the ABI cp313: this sandbox has Python 3.14 (cp314).",
  ],
];

interface Started {
  logged: string[];
  packages: readonly { name: string; version: string }[] | undefined;
  python(code: string): Promise<Ran>;
  close(): Promise<void>;
}

/** An interpreter with packages. */
async function start(
  given: string[],
  { wheels = directory, snapshots = directory, baseUrl = url } = {},
): Promise<Started> {
  const logged: string[] = [];
  const log = (line: string): void => void logged.push(line);
  const plan = await planPackages({
    packages: given,
    baseUrl,
    lockFile,
    cacheDirectory: wheels,
    log,
  });
  const isolation = new WasmIsolation({
    cacheDirectory: snapshots,
    poolSize: 0,
    packages: plan,
    log,
  });
  await isolation.start();
  const runner = await isolation.runner();
  return {
    logged,
    packages: isolation.languages[0]?.packages,
    python: (code) => run(runner, "python", code),
    async close() {
      await runner.close();
      await isolation.close();
    },
  };
}

test("packages come with their dependencies, verified, and are imported in the snapshot", async () => {
  expect(everything.packages).toEqual([
    { name: "Base-Lib", version: "2.0" },
    { name: "many", version: "0.1" },
    { name: "native", version: "0.5" },
    { name: "own", version: "3.1" },
    { name: "raises", version: "1.0" },
    { name: "remote", version: "4.0" },
    { name: "tiny", version: "1.2.0" },
  ]);
  const { output } = await everything.python(
    "import sys\nprint('tiny' in sys.modules)\nimport tiny, tiny_extra, importlib.metadata, importlib.resources\nprint(tiny.double(21), tiny_extra.WHERE, importlib.metadata.version('base_lib'))\nprint((importlib.resources.files('tiny') / 'data/table.txt').read_text(), end='')",
  );
  expect(output).toBe("True\n42 purelib 2.0\nfrom the wheel\n");
});

test("every block finds packages as they were", async () => {
  const code = "import tiny\nprint(tiny.LOADED)\ntiny.LOADED = False";
  expect((await everything.python(code)).output).toBe("True\n");
  expect((await everything.python(code)).output).toBe("True\n");
  const write = "with open(__import__('tiny').__file__, 'a') as f: f.write('x')";
  expect((await everything.python(write)).output).toContain("Read-only file system");
});

test("a missing import names the available packages", async () => {
  expect((await everything.python("import numpy")).output).toMatch(
    /ModuleNotFoundError: No module named 'numpy'\nThere are the standard library and base_lib, many, native, own, raises, remote, tiny; nothing can be installed\.\n$/,
  );
});

test("wheels are fetched by path and by URL, too", async () => {
  const { output } = await everything.python("import own, remote\nprint(own.NAME, remote.NAME)");
  expect(output).toBe("own remote\n");
});

test("a package may have many files", async () => {
  const { output } = await everything.python(
    `import importlib\nprint(sum(importlib.import_module(f"many.m{n}").N for n in range(${MANY})))`,
  );
  expect(output).toBe(`${(MANY * (MANY - 1)) / 2}\n`);
});

test("machine code runs, every block with fresh memory, and stays inside", async () => {
  const code =
    "import native\nprint(native.square(12), native.count(), native.count(), native.has_clock())";
  for (let block = 0; block < 2; block++)
    expect((await everything.python(code)).output).toBe("144 1 2 1\n");
  const escaped = await everything.python(
    "import native\ntry:\n  print(native.escape())\nfinally:\n  print('ran on')",
  );
  expect(escaped).toMatchObject({ endedBy: "crashed", exitCode: 1 });
  expect(escaped.output).toContain(
    "the code tried to leave the sandbox (emscripten_run_script_int)",
  );
});

test("a package that fails is left out with a reason, and the others are there", () => {
  const logged = everything.logged.map((line) => line.replace(/^SANDBOX_PACKAGES: /, ""));
  for (const [given, why] of BAD) {
    const line = logged.find((one) => one.startsWith(`${given} is left out: `));
    const reason = line?.slice(`${given} is left out: `.length);
    if (typeof why === "string") expect(reason).toBe(why);
    else expect(reason).toMatch(why);
  }
  expect(logged.slice(BAD.length)).toEqual([
    "broken is left out: zipfile.BadZipFile: File is not a zip file",
    "raises cannot be imported: RuntimeError: not here",
    "broken cannot be imported: ModuleNotFoundError: No module named 'broken'",
  ]);
});

test("packages that were fetched once need no network", async () => {
  asked = [];
  const given = ["tiny", "many", "native"];
  const plan = await planPackages({
    packages: given,
    baseUrl: "http://127.0.0.1:1/",
    lockFile,
    cacheDirectory: directory,
    log: fail,
  });
  expect(plan.wheels.map(({ name }) => name)).toEqual(["Base-Lib", "tiny", "many", "native"]);
  expect(asked).toEqual([]);
});

test("packages are left out offline, and the service runs without them", async () => {
  const offline = await start(["tiny"], {
    wheels: join(directory, "empty"),
    // Without packages the snapshot is the ordinary one.
    snapshots: CACHE,
    baseUrl: "http://127.0.0.1:1",
  });
  onTestFinished(() => offline.close());
  expect(offline.logged).toEqual([
    expect.stringMatching(/^SANDBOX_PACKAGES: tiny is left out: \S+\.whl cannot be fetched: .+\.$/),
  ]);
  expect(offline.packages).toEqual([]);
  const { output } = await offline.python("print(1)\nimport tiny");
  expect(output).toMatch(/^1\n[\s\S]*ModuleNotFoundError: No module named 'tiny'\n$/);
});

test("a wheel that changed on disk is fetched again", async () => {
  const cacheDirectory = join(directory, "damaged");
  const plan = () =>
    planPackages({ packages: ["many"], baseUrl: url, lockFile, cacheDirectory, log: fail });
  asked = [];
  const [first] = (await plan()).wheels;
  await writeFile(first?.file ?? "", "damaged");
  expect((await plan()).wheels).toEqual([first]);
  expect(asked).toHaveLength(2);
  expect(await readdir(join(cacheDirectory, "wheels"))).toHaveLength(1);
});

function fail(line: string): never {
  throw new Error(line);
}
