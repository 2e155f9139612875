import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createIsolation } from "../isolation.ts";
import { insideContainer } from "../process/container.ts";
import { readSettings } from "../settings.ts";
import { commandLines, testWith } from "../../test/support/programs.ts";
import { Sandbox } from "../../test/support/sandbox.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await Sandbox.start({
    settings: {
      SANDBOX_MEMORY_BYTES: "100000000",
      SANDBOX_MAX_PROCESSES: "30",
      SANDBOX_WORKSPACE_BYTES: "1000000",
      A_SECRET: "42",
    },
  });
});
afterAll(() => sandbox[Symbol.asyncDispose]());

interface Result {
  exit_code: number;
  output: string;
}

async function run(session: string, language: string, code: string, timeout = 20): Promise<Result> {
  const response = await sandbox.execute(session, [[language, code]], { timeout });
  return (await response.json()) as Result;
}

/** How many processes have a word in their command line. */
function running(word: string): number {
  return commandLines().filter((line) => line.includes(word)).length;
}

const asRoot = process.getuid?.() === 0;

describe("a block", () => {
  testWith("python3")(
    "has an empty input, a directory of its own and nothing of the service's environment",
    async () => {
      const { output } = await run(
        "env",
        "python",
        "import os; print(input.__name__, sorted(os.environ), os.listdir('.')); input()",
      );
      expect(output).toMatch(/^input \['HOME', 'LANG', 'PATH', .*\] \[\]\n/);
      expect(output).toContain("EOFError");
      expect(output).not.toMatch(/A_SECRET|SANDBOX_KEY/);
    },
  );

  testWith("python3")("names the line of its error, without paths of the machine", async () => {
    const { exit_code, output } = await run("trace", "python", "x = 1\nraise ValueError('no')");
    expect(exit_code).toBe(1);
    expect(output).toMatch(/File ".*code\/block", line 2/);
    expect(await run("trace", "sh", "exit 7")).toMatchObject({ exit_code: 7 });
    expect(await run("trace", "sh", "kill -TERM $$")).toMatchObject({ exit_code: 143 });
  });

  testWith("python3")("imports modules that an earlier block wrote", async () => {
    await run("import", "sh", "echo 'x = 5' > mine.py");
    expect((await run("import", "python", "import mine; print(mine.x)")).output).toBe("5\n");
  });

  test.each([
    ["in its group", "sleep 7111 & echo ok", "sleep 7111"],
    ["that holds the output", "(trap '' TERM HUP; sleep 7333) & echo ok", "sleep 7333"],
  ])("leaves no process running: %s", async (_, code, command) => {
    expect((await run("background", "sh", code)).output).toBe("ok\n");
    expect(running(command)).toBe(0);
  });

  testWith("setsid")("leaves no process running: in a session of its own", async () => {
    const code = "setsid sleep 7222 & sleep 0.1; echo ok";
    expect((await run("background", "sh", code)).output).toBe("ok\n");
    expect(running("sleep 7222")).toBe(0);
  });

  testWith("root", "setsid")(
    "leaves no process running that has cleared its environment",
    async () => {
      const code = "env -i setsid sleep 7444 & sleep 0.1; echo ok";
      expect((await run("background", "sh", code)).output).toBe("ok\n");
      expect(running("sleep 7444")).toBe(0);
    },
  );

  testWith("python3")("ends when it uses too much memory", async () => {
    const one = "x = b'x' * 150_000_000; import time; time.sleep(20); print('never')";
    expect(await run("memory", "python", one)).toMatchObject({
      exit_code: 137,
      output: expect.stringContaining("needs more than 100000000 bytes of memory") as string,
    });
    const all = await run("memory", "python", "x = b'x' * 10**10");
    expect(all).toMatchObject({ exit_code: 1 });
    expect(all.output).toContain("MemoryError");
  });

  testWith("root")("cannot fork without end", async () => {
    const bomb = "bomb() { bomb | bomb & }; bomb; sleep 1; echo over";
    await run("bomb", "sh", bomb, 2);
    expect((await run("bomb", "sh", "echo alive")).output).toBe("alive\n");
  });

  test("cannot write a file larger than the workspace", async () => {
    const { output } = await run("large", "sh", "head -c 900000000 /dev/zero > big; ls -s big");
    expect(output).toContain("The files that the code left were not kept");
    expect((await run("large", "sh", "echo alive")).output).toBe("alive\n");
  });

  test("is ended while it fills the workspace", async () => {
    const code = "mkdir d; while true; do head -c 50000 /dev/zero > d/$((i=i+1)); done";
    const { exit_code, output } = await run("full", "sh", code);
    expect([exit_code, output]).toEqual([1, expect.stringContaining("were not kept")]);
    expect((await run("full", "sh", "ls")).output).toBe("");
  });

  testWith("root")("sees neither the other sessions nor the service", async () => {
    await run("other", "sh", "echo hidden > secret");
    const code = `cat ../../*/workspace/secret /proc/${sandbox.pid}/environ; kill -9 ${sandbox.pid}; ls ../..; id -u`;
    const { output } = await run("spy", "sh", code);
    expect(output).not.toMatch(/hidden|SANDBOX_KEY/);
    expect(Number(output.trim().split("\n").at(-1))).toBeGreaterThanOrEqual(100_000);
    expect((await run("other", "sh", "cat secret")).output).toBe("hidden\n");
  });

  testWith("python3")("keeps no sockets and pipes, and no file with an invalid name", async () => {
    const code =
      "import os; os.mkfifo('pipe'); open('a\\\\b', 'w'); open('line\\nbreak', 'w'); open('kept', 'w'); os.chmod('kept', 0)";
    expect((await run("odd", "python", code)).output).toBe(
      'Not kept, because of its name or its target: "a\\\\b" and 1 more.\n',
    );
    expect((await run("odd", "sh", "ls; ls -l kept | cut -c1-10")).output).toBe(
      "kept\n----------\n",
    );
  });
});

describe("the service", () => {
  const env = { SANDBOX_ISOLATION: "process" };

  const silent = (): void => {};

  test("starts only if an isolation exists, unless it is forced", async () => {
    const plain = readSettings(env);
    const forced = readSettings({ ...env, SANDBOX_FORCE_PROCESS: "1" });
    // This machine may be a container itself.
    if (!insideContainer({}))
      await expect(createIsolation(plain, {}, silent)).rejects.toThrow(/inside a container/);
    expect((await createIsolation(forced, {}, silent)).name).toBe("process");
    const container = { KUBERNETES_SERVICE_HOST: "10.0.0.1" };
    if (asRoot) expect((await createIsolation(plain, container, silent)).name).toBe("process");
    else await expect(createIsolation(plain, container, silent)).rejects.toThrow(/needs root/);
  });

  test.each([
    [{}, false],
    [{ ".dockerenv": "" }, true],
    [{ "run/.containerenv": "" }, true],
    [{ "proc/1/cgroup": "0::/init.scope\n" }, false],
    [{ "proc/1/cgroup": "12:pids:/docker/0123456789ab\n" }, true],
    [{ "proc/1/cgroup": "0::/kubepods/besteffort/pod1\n" }, true],
  ])("recognises %o as a container: %s", (files, inside) => {
    const root = mkdtempSync(join(tmpdir(), "sandbox-root-"));
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(join(root, path, ".."), { recursive: true });
      writeFileSync(join(root, path), content);
    }
    expect(insideContainer({}, root)).toBe(inside);
    rmSync(root, { recursive: true });
  });
});

test.each([
  ["stop", "sleep 7555"],
  ["kill", "sleep 7666"],
] as const)("no process of the service continues after a %s", async (how, command) => {
  await using other = await Sandbox.start();
  const response = await other.execute("s", [["sh", `echo a; ${command} & ${command}`]], {
    headers: { accept: "text/event-stream" },
  });
  const reader = response.body!.getReader();
  await reader.read();
  await expect.poll(() => running(command)).toBeGreaterThan(0);
  await other[how]();
  // A service that was asked to end says so; it is not a result, and no client cancelled anything.
  const rest = await reader.read().catch(() => undefined);
  if (how === "stop")
    expect(new TextDecoder().decode(rest?.value)).toMatch(/^event: error\ndata: .*"shutting_down"/);
  await expect.poll(() => running(command)).toBe(0);
  if (how === "stop") expect(readdirSync(other.temporary)).toEqual(["data"]);
});
