import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { ROOT } from "../../test/support/npm-start.ts";
import { testWith } from "../../test/support/programs.ts";
import { Sandbox } from "../../test/support/sandbox.ts";

// Folders that code can read and not change: the files of other sessions.

interface Answer {
  exit_code: number;
  output: string;
  code: string;
  errors: { path: string; message: string }[];
}

const HELLO = `import os, sys
print("hello", *sys.argv[1:])
print(open(os.path.join(os.path.dirname(__file__), "..", "data.txt")).read())
open("made.txt", "w").write("made")
`;

const ATTACK = `import os
root = os.environ["SANDBOX_FOLDERS"]
def attempt(f, *args):
    try:
        f(*args)
        print("done")
    except OSError:
        print("refused")
attempt(open, root + "/greet/data.txt", "w")
attempt(open, root + "/greet/new.txt", "w")
attempt(os.remove, root + "/greet/data.txt")
attempt(os.rename, root + "/greet", root + "/other")
attempt(os.mkdir, root + "/more")
print(open(root + "/greet/data.txt").read())
`;

describe.each(["wasm", "process"])("a folder in %s", (isolation) => {
  const test = testWith(...(isolation === "process" ? ["python3"] : []));
  let data: string;
  let sandbox: Sandbox;

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), "sandbox-"));
    sandbox = await Sandbox.start({
      data,
      settings: {
        SANDBOX_ISOLATION: isolation,
        SANDBOX_CACHE: join(ROOT, "node_modules/.cache/troupe-sandbox"),
        SANDBOX_POOL: "0",
      },
    });
    await put("folder-1", "scripts/hello.py", HELLO);
    await put("folder-1", "data.txt", "some data");
  });
  afterAll(async () => {
    await sandbox[Symbol.asyncDispose]();
    await rm(data, { recursive: true });
  });

  const put = (session: string, path: string, body: string): Promise<Response> =>
    sandbox.request(`/v1/sessions/${session}/files/${path}`, { method: "PUT", body });

  const ask = (
    code: readonly (readonly [language: string, code: string])[],
    folders: readonly object[],
  ): Promise<Response> =>
    sandbox.request("/v1/sessions/team/execute", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        code_blocks: code.map(([language, text]) => ({ language, code: text })),
        folders,
      }),
    });

  const run = async (...args: Parameters<typeof ask>): Promise<Answer> =>
    (await (await ask(...args)).json()) as Answer;

  const greet = { name: "greet", session: "folder-1", files: 2 };

  test("has scripts that run in the workspace of the session", async () => {
    const command = `python3 "$SANDBOX_FOLDERS"/'greet/scripts/hello.py' 'a b' c`;
    const { exit_code, output } = await run([["sh", command]], [greet]);
    expect([exit_code, output]).toEqual([0, "hello a b c\nsome data\n"]);
    const list = (await (await sandbox.request("/v1/sessions/team/files")).json()) as {
      files: { path: string }[];
    };
    expect(list.files.map(({ path }) => path)).toEqual(["made.txt"]);
  });

  test("cannot be changed by code", async () => {
    const { output } = await run([["python", ATTACK]], [greet]);
    expect(output).toBe(`${"refused\n".repeat(5)}some data\n`);
  });

  test("is there for its request only", async () => {
    await run([["sh", "true"]], [greet]);
    const { output } = await run([["sh", 'ls "$SANDBOX_FOLDERS"; echo end']], []);
    expect(output).toBe("end\n");
  });

  test("has what its session has by now", async () => {
    await put("folder-2", "a.txt", "one");
    const folder = { name: "later", session: "folder-2", files: 1 };
    const read: [string, string][] = [["sh", 'cat "$SANDBOX_FOLDERS/later/a.txt"']];
    expect((await run(read, [folder])).output).toBe("one");
    await put("folder-2", "a.txt", "two");
    expect((await run(read, [folder])).output).toBe("two");
  });

  test("that was not sent to its end is refused", async () => {
    const response = await ask([["sh", "true"]], [{ ...greet, files: 3 }]);
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      code: "no_such_folder",
      errors: [{ path: "folders", message: "has 2 files, not 3: send its files first" }],
    });
    const unknown = await ask([["sh", "true"]], [{ ...greet, session: "never-there" }]);
    expect(unknown.status).toBe(422);
  });

  test("cannot have a path as its name", async () => {
    const response = await ask([["sh", "true"]], [{ ...greet, name: "../up" }]);
    expect(response.status).toBe(422);
    expect((await ask([["sh", "true"]], [greet, greet])).status).toBe(422);
  });

  test("is announced by the health of the service", async () => {
    expect(await (await sandbox.request("/healthz")).json()).toMatchObject({ folders: true });
  });
});
