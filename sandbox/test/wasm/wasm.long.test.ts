import { readFile } from "node:fs/promises";
import { describe, expect, test, vi } from "vitest";
import type { WorkspaceEntry } from "../../runner.ts";
import { type Ran, SharedSession } from "./support.ts";

// Where the machine is busy, another process takes its time to come.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const session = SharedSession.forTests();
const python: SharedSession["python"] = (code, options) => session.python(code, options);
const shell: SharedSession["shell"] = (code, options) => session.shell(code, options);

/** The change in a form that is easy to compare. */
function changed({ change }: Ran): { set: Record<string, unknown>; removed: readonly string[] } {
  const told = (entry: WorkspaceEntry): unknown =>
    entry.type === "file"
      ? Buffer.from(entry.content).toString()
      : entry.type === "link"
        ? { to: entry.target }
        : "directory";
  return {
    set: Object.fromEntries(change.set.map((entry) => [entry.path, told(entry)])),
    removed: change.removed.toSorted(),
  };
}

const file = (path: string, content: string): WorkspaceEntry => ({
  path,
  type: "file",
  content: Buffer.from(content),
  mode: 0o644,
});

describe("Python", () => {
  test("prints both streams in their order, and text of all kinds", async () => {
    const ran = await python(`import sys
print("out", end=" ")
print("err", file=sys.stderr, end=" ")
print("ünï 😀")`);
    expect(ran).toMatchObject({ exitCode: 0, output: "out err ünï 😀\n" });
    expect(ran.endedBy).toBeUndefined();
  });

  test("reports an uncaught exception like Python, with the lines of the code only", async () => {
    const ran = await python("def half(x):\n    return x / 0\nhalf(1)");
    expect(ran.exitCode).toBe(1);
    expect(ran.output).toBe(`Traceback (most recent call last):
  File "/workspace/main.py", line 3, in <module>
    half(1)
    ~~~~^^^
  File "/workspace/main.py", line 2, in half
    return x / 0
           ~~^~~
ZeroDivisionError: division by zero
`);
  });

  test.for([
    ["import sys; sys.exit(3)", 3, ""],
    ["import sys; sys.exit()", 0, ""],
    ["import sys; sys.exit('stopped')", 1, "stopped\n"],
    ["import os; print(1); os._exit(4)", 4, "1\n"],
    ["import atexit; atexit.register(print, 'bye')", 0, "bye\n"],
    ["raise KeyboardInterrupt", 130, /KeyboardInterrupt\n$/],
    ["if True print(1)", 1, /line 1\n +if True print\(1\)\n[^]*SyntaxError/],
    ["print(input())", 1, /EOFError/],
    ["assert 1 == 2, 'no'", 1, /AssertionError: no\n$/],
  ] as const)("ends with its exit code: %s", async ([code, exitCode, output]) => {
    const ran = await python(code);
    expect(ran.exitCode).toBe(exitCode);
    expect(ran.output).toEqual(typeof output === "string" ? output : expect.stringMatching(output));
  });

  test("is a program of its own", async () => {
    const { output } = await python(`import os, sys
print(__name__, __file__, sys.argv, os.getcwd(), os.path.expanduser("~"), sys.stdin.read() == "")`);
    expect(output).toBe("__main__ /workspace/main.py ['main.py'] /workspace /workspace True\n");
  });

  test("has an event loop, one as everywhere", async () => {
    const { output } = await python(`import asyncio
ended = []
async def wait(s):
    await asyncio.sleep(s); ended.append(s); return s
async def main():
    print(await asyncio.gather(wait(0.1), wait(0.05)), await asyncio.to_thread(len, "abc"), ended[-2:])
    try: await asyncio.wait_for(wait(5), 0.01)
    except TimeoutError: print("timeout")
asyncio.run(main())
asyncio.run(main())`);
    expect(output).toBe("[0.1, 0.05] 3 [0.05, 0.1]\ntimeout\n".repeat(2));
  });

  test("has the features that its library reports", async () => {
    const { output, exitCode } = await python(`
import argparse, collections, csv, dataclasses, datetime, decimal, hashlib, itertools, json, pickle, re, sqlite3, statistics
import tempfile, textwrap, time, typing, unittest, uuid, xml.etree.ElementTree, zipfile, zlib, zoneinfo
db = sqlite3.connect("my.db"); db.execute("create table t (x)"); db.execute("insert into t values (41)"); db.commit(); db.close()
print(sqlite3.connect("my.db").execute("select x + 1 from t").fetchone())
with tempfile.NamedTemporaryFile("w+") as f: f.write("x"); f.seek(0); print(f.read())
class Pickled: pass
print(type(pickle.loads(pickle.dumps(Pickled()))).__name__, abs(time.time() - datetime.datetime.now().timestamp()) < 1)`);
    expect(output).toBe("(42,)\nx\nPickled True\n");
    expect(exitCode).toBe(0);
  });

  test("differs each time where it should be random", async () => {
    const code = "import random, uuid, os; print(random.random(), uuid.uuid4(), os.urandom(4))";
    expect((await python(code)).output).not.toBe((await python(code)).output);
  });

  test("starts over with each block", async () => {
    await python("import json, sys; x = 1; json.x = 1; sys.path.clear(); open('/tmp/x', 'w')");
    const { output } = await python(
      "import json, os, sys; print('x' in globals(), hasattr(json, 'x'), os.listdir('/tmp'), sys.path[0])",
    );
    expect(output).toBe("False False [] /workspace\n");
  });

  test("imports modules that an earlier block has written", async () => {
    await python("open('tool.py', 'w').write('def double(x): return 2 * x')");
    expect((await python("import tool; print(tool.double(21))")).output).toBe("42\n");
    await python("open('tool.py', 'w').write('def double(x): return x + x + 1')");
    expect((await python("import tool; print(tool.double(21))")).output).toBe("43\n");
  });
});

describe("the shell", () => {
  test("prints both streams in their order", async () => {
    const ran = await shell("echo a; ls nope; echo b >&2; nope; echo ünï 😀; exit 3");
    expect(ran).toMatchObject({
      exitCode: 3,
      output: "a\nls: nope: No such file or directory\nb\nbash: nope: command not found\nünï 😀\n",
    });
  });

  test("keeps the data of a pipeline, a substitution or a redirection", async () => {
    const { output } = await shell(`f() { echo in f; ls nope; }
f | wc -l; x=$(f 2>/dev/null); echo "[$x]"; f > f.txt 2>&1; cat f.txt | wc -l
for i in 1 2 3; do echo $i; done | sort -r | head -1
if echo yes | grep -q yes; then echo found; fi
while read line; do echo "<$line>"; done < f.txt
{ echo a; echo b; } | tac; (cd /tmp; pwd); pwd
cat <<END
here $((6 * 7))
END`);
    await shell("exec > all.txt; echo redirected; exec > /dev/null");
    expect(output.replaceAll("ls: nope: No such file or directory", "!")).toBe(
      "!\n1\n[in f]\n2\n3\nfound\n<in f>\n<!>\nb\na\n/tmp\n/workspace\nhere 42\n",
    );
    expect((await shell("cat all.txt")).output).toBe("redirected\n");
  });

  test("runs Python, with arguments, input and modules", async () => {
    await shell("echo 'import sys; print(sys.argv, sys.stdin.read())' > p.py; mkdir d; cp p.py d");
    const { output } = await shell(`python3 p.py a 'b c' < /dev/null
echo in | python d/p.py | tr a-z A-Z
python3 -c 'import sys; print(sys.argv)' x; python3 -m json.tool <<< '{"a":1}'
echo 'print(6 * 7)' | python3 -; python3 -V | cut -d. -f1
X=1 python3 -c 'import os; print(os.environ["X"], os.getcwd())'
python3 nope.py; echo $?; python3 -c 'import sys; sys.exit(7)'; echo $?
python3 -c 'import sys; sys.stdout.buffer.write(bytes([0, 255]))' | python3 -c 'import sys; print(sys.stdin.buffer.read())'
python3 -c 'import sys; sys.stdout.buffer.write(bytes([0, 255]))' | base64`);
    expect(output.split("\n").filter((line) => !line.startsWith(" "))).toEqual([
      "['p.py', 'a', 'b c'] ",
      "['D/P.PY'] IN",
      "",
      "['-c', 'x']",
      "{",
      "}",
      "42",
      "Python 3",
      "1 /workspace",
      "python3: can't open file '/workspace/nope.py': No such file or directory",
      "2",
      "7",
      "b'\\x00\\xff'",
      "AP8=",
      "",
    ]);
  });

  test("reports a script that is invalid", async () => {
    expect(await shell("echo (")).toMatchObject({
      exitCode: 2,
      output: expect.stringMatching(/syntax error/) as string,
    });
  });

  test("reports a path where it cannot write, and ends there", async () => {
    expect(await shell("echo a; echo b > /nowhere; echo c")).toMatchObject({
      exitCode: 1,
      output: "a\nbash: EROFS: read-only file system, open '/nowhere'\n",
    });
  });
});

describe("the workspace", () => {
  test("is the same for both languages", async () => {
    await python("open('a.bin', 'wb').write(bytes(range(256)))");
    expect(
      (await shell("sha256sum a.bin | cut -c1-8; mv a.bin b.bin; chmod 755 b.bin")).output,
    ).toBe("40aff2e9\n");
    const { output } = await python(
      "import os; print(os.listdir(), open('b.bin', 'rb').read() == bytes(range(256)), oct(os.stat('b.bin').st_mode))",
    );
    expect(output).toBe("['b.bin'] True 0o100755\n");
  });

  test("reports its changes, and only those", async () => {
    await session.runner.update({
      set: [file("a/1", "one"), file("a/2", "two"), file("b", "b")],
      removed: [],
    });
    expect(changed(await python("print(open('a/1').read())"))).toEqual({ set: {}, removed: [] });
    const first = await python(`import os
open("a/1", "a").write("!")
os.remove("a/2"); os.mkdir("c"); os.symlink("../b", "c/link"); os.rename("b", "c/ü")`);
    expect(changed(first)).toEqual({
      set: { "a/1": "one!", c: "directory", "c/link": { to: "../b" }, "c/ü": "b" },
      removed: ["a/2", "b"],
    });
    const second = await shell("rm -r a; echo file > a; rm c/link; mkdir c/link; echo b > c/ü");
    expect(changed(second)).toEqual({
      set: { a: "file\n", "c/link": "directory", "c/ü": "b\n" },
      removed: expect.arrayContaining(["a", "a/1", "c/link"]) as string[],
    });
  });

  test("receives the changes before a block", async () => {
    await session.runner.update({
      set: [
        file("d/x", "1"),
        { path: "l", type: "link", target: "d/x" },
        { path: "e", type: "directory" },
      ],
      removed: [],
    });
    expect((await shell("cat l; ls")).output).toBe("1d\ne\nl\n");
    await session.runner.update({ set: [file("d/x", "2")], removed: ["l", "e"] });
    const ran = await shell("cat d/x; ls");
    expect(ran.output).toBe("2d\n");
    expect(changed(ran)).toEqual({ set: {}, removed: [] });
  });

  test("may be full before, and be made smaller", async () => {
    await session.runner.update({ set: [file("big", "x".repeat(2000))], removed: [] });
    const limits = { workspaceBytes: 1000, workspaceFiles: 1 };
    expect((await shell("echo y > other", limits)).output).toMatch(/ENOSPC/);
    expect(changed(await shell("rm big; echo y > other", limits))).toEqual({
      set: { other: "y\n" },
      removed: ["big"],
    });
  });
});

test("the processes that run code have nothing of the service's in them", async () => {
  const { pid } = session.runner as unknown as { pid: number };
  const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
  expect(environment).toBe("");
});

test("languages are known with their names and versions", () => {
  expect(session.isolation.languages).toEqual([
    {
      name: "python",
      aliases: ["py", "python3"],
      version: expect.stringMatching(/^3\.\d+\.\d+$/) as string,
    },
    { name: "sh", aliases: ["bash", "shell"], version: "" },
  ]);
});
