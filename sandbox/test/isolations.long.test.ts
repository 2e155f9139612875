import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { ROOT } from "../../test/support/npm-start.ts";
import { testWith } from "../../test/support/programs.ts";
import { Sandbox } from "../../test/support/sandbox.ts";

// What the service promises, whatever keeps the code in.

interface Result {
  exit_code: number;
  output: string;
}

describe.each([
  ["wasm", /^2 x\n$/],
  ["process", /its outcome is not known/],
])("sessions in %s", (isolation, afterKill) => {
  // WebAssembly brings its own Python.
  const test = testWith(...(isolation === "process" ? ["python3"] : []));
  let data: string;
  let sandbox: Sandbox;
  const start = (): Promise<Sandbox> =>
    Sandbox.start({
      data,
      settings: {
        SANDBOX_ISOLATION: isolation,
        SANDBOX_CACHE: join(ROOT, "node_modules/.cache/troupe-sandbox"),
        SANDBOX_POOL: "0",
      },
    });

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), "sandbox-"));
    sandbox = await start();
  });
  afterAll(async () => {
    await sandbox.stop();
    await rm(data, { recursive: true });
  });

  async function run(...args: Parameters<Sandbox["execute"]>): Promise<Result> {
    return (await (await sandbox.execute(...args)).json()) as Result;
  }

  test("languages share files, with clients and with each other", async () => {
    await sandbox.request("/v1/sessions/share/files/in/a.txt", { method: "PUT", body: "a" });
    const { exit_code, output } = await run("share", [
      [
        "python",
        "import os\nos.makedirs('out')\nopen('out/b.bin', 'wb').write(bytes(range(256)))\nprint(open('in/a.txt').read())",
      ],
      ["sh", "mv in/a.txt out/c.txt; rm -r in; ln -s c.txt out/link; ls out; echo no >&2; exit 4"],
    ]);
    expect([exit_code, output]).toEqual([4, "a\nb.bin\nc.txt\nlink\nno\n"]);
    const bytes = await sandbox.request("/v1/sessions/share/files/out/b.bin");
    expect(new Uint8Array(await bytes.arrayBuffer())).toEqual(
      Uint8Array.from({ length: 256 }, (_, index) => index),
    );
    const list = await sandbox.request("/v1/sessions/share/files");
    expect(await list.json()).toMatchObject({
      files: [{ path: "out/b.bin", size: 256 }, { path: "out/c.txt" }],
    });
    expect((await run("share", [["python", "print(open('out/link').read())"]])).output).toBe("a\n");
  });

  test("accept long and odd names and targets, which affect only themselves", async () => {
    const code = `import os
def attempt(f, *args):
    try:
        f(*args)
    except OSError as error:
        print(error.strerror)
open("kept", "w").write("1")
attempt(os.symlink, "a" * 5000, "link")
attempt(os.symlink, "é" * 2048, "link")
attempt(os.rename, "kept", "y" * 300)
attempt(open, "é" * 200, "w")
open(b"odd\\xff", "w")
os.symlink(b"odd\\xff", "other")
os.makedirs("x/" * 40)
def descend():
    for _ in range(30):
        os.mkdir("w" * 200)
        os.chdir("w" * 200)
attempt(descend)
`;
    // The system of a real process has no limit for paths that it makes step by step.
    const refused = isolation === "process" ? 4 : 5;
    const { exit_code, output } = await run("odd", [["python", code]]);
    expect([exit_code, output]).toEqual([
      0,
      expect.stringMatching(/Not kept, because of its name/),
    ]);
    expect(output.match(/^File ?name too long$/gm)).toHaveLength(refused);
    expect((await run("odd", [["sh", "cat kept; ls | cut -c1-9"]])).output).toBe(
      "1kept\nwwwwwwwww\nx\n",
    );
  });

  test("keep the session usable when a timeout ends a block", async () => {
    const code =
      "import time\nopen('n', 'w').write('1')\nprint('begun', flush=True)\nwhile True: time.sleep(0.01)";
    expect(await run("slow", [["python", code]], { timeout: 1 })).toMatchObject({
      exit_code: 124,
      output: "begun\nThe code was stopped after 1 s.\n",
    });
    expect((await run("slow", [["python", "print(open('n').read())"]])).output).toBe("1\n");
  });

  test("keep nothing of a cancelled request, not even in the interpreter that stays", async () => {
    const stream = await sandbox.execute(
      "cancel",
      [
        ["sh", "echo x > left"],
        ["python", "print('begun', flush=True)\nwhile True: pass"],
      ],
      { key: "k", headers: { accept: "text/event-stream" } },
    );
    const reader = stream.body!.getReader();
    await reader.read();
    const path = "/v1/sessions/cancel/executions/k";
    expect((await sandbox.request(path, { method: "DELETE" })).status).toBe(204);
    expect(await run("cancel", [["sh", "ls"]])).toMatchObject({ exit_code: 0, output: "" });
  });

  test("keep recorded results after kill -9, and no interrupted code runs twice", async () => {
    const append =
      "import os\nopen('log', 'a').write('x')\nn = len(open('log').read())\nprint(n, 'x', flush=True)\nwhile os.path.exists('wait'): pass";
    const recorded = await run("kill", [["python", append]], { key: "recorded" });
    expect(recorded.output).toBe("1 x\n");
    await sandbox.request("/v1/sessions/kill/files/wait", { method: "PUT", body: "" });
    const stream = await sandbox.execute("kill", [["python", append]], {
      key: "cut",
      headers: { accept: "text/event-stream" },
    });
    await stream.body!.getReader().read();
    await sandbox.kill();

    sandbox = await start();
    expect(await run("kill", [["python", append]], { key: "recorded" })).toEqual(recorded);
    await sandbox.request("/v1/sessions/kill/files/wait", { method: "DELETE" });
    const again = await run("kill", [["python", append]], { key: "cut" });
    expect(again.output).toMatch(afterKill);
    expect(await run("kill", [["python", append]], { key: "cut" })).toEqual(again);
  });
});
