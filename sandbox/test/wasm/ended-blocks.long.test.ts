import { describe, expect, test } from "vitest";
import { SharedSession } from "./support.ts";

const session = SharedSession.forTests();
const python: SharedSession["python"] = (code, options) => session.python(code, options);
const shell: SharedSession["shell"] = (code, options) => session.shell(code, options);

describe("a block that is over", () => {
  test("because its time has ended keeps its files and its output, in either language", async () => {
    const both = [
      await python("print('a'); open('a', 'w').write('1')\nwhile True: pass", { timeoutMs: 5_000 }),
      await shell("echo a; echo 1 > a; while true; do :; done", { timeoutMs: 5_000 }),
    ];
    for (const ran of both) {
      expect(ran).toMatchObject({ exitCode: 124, endedBy: "timeout", output: "a\n" });
      expect(ran.change.set).toContainEqual(expect.objectContaining({ path: "a", type: "file" }));
    }
  });

  test("because it does not respond is killed, and another one continues", async () => {
    // Long enough for the interpreter to begin on a busy machine: before that, the block would respond.
    const ran = await python("sum(range(10 ** 12))", { timeoutMs: 3_000 });
    expect(ran).toMatchObject({ exitCode: 124, endedBy: "timeout" });
    expect(session.runner.usable).toBe(false);
    await session.renew();
    expect((await python("print(1)")).output).toBe("1\n");
  });

  test("because it was cancelled is gone at once", async () => {
    const controller = new AbortController();
    const ran = await python("print('started', flush=True)\nimport time; time.sleep(60)", {
      signal: controller.signal,
      onOutput: () => controller.abort(),
      timeoutMs: 60_000,
    });
    expect(ran).toMatchObject({ exitCode: 125, endedBy: "cancelled" });
    expect(session.runner.usable).toBe(false);
  });

  test("has its output shown while it runs", async () => {
    const pieces: string[] = [];
    const controller = new AbortController();
    const ran = await shell("for i in 1 2 3; do echo $i; sleep 0.1; done", {
      onOutput: (text) => pieces.push(text),
      signal: controller.signal,
    });
    expect(ran.output).toBe("1\n2\n3\n");
    expect(pieces.length).toBeGreaterThan(1);
  });

  test("because its process died is reported, and the isolation starts another process", async () => {
    const dies = python("import time; print(1); time.sleep(60)", {
      timeoutMs: 60_000,
      onOutput: () => process.kill((session.runner as unknown as { pid: number }).pid, "SIGKILL"),
    });
    expect(await dies).toMatchObject({ exitCode: 1, endedBy: "crashed", change: { set: [] } });
    await expect(session.runner.update({ set: [], removed: [] })).rejects.toThrow(/ended/);
    await session.renew();
    expect((await python("print(1)")).output).toBe("1\n");
  });
});
