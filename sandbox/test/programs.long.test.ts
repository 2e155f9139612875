import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testWith } from "../../test/support/programs.ts";
import { Sandbox } from "../../test/support/sandbox.ts";

interface Exit {
  exit_code: number | null;
  stderr: string;
  reason?: string;
}

/** A program that was started: its events, until its client leaves. */
class Started implements AsyncDisposable {
  readonly #leave: AbortController;
  readonly #events: AsyncIterator<{ event?: string | undefined; data: string }>;

  constructor(response: Response, leave: AbortController) {
    this.#leave = leave;
    const text = response.body!.pipeThrough(new TextDecoderStream());
    const events = text.pipeThrough(new EventSourceParserStream());
    this.#events = events[Symbol.asyncIterator]();
  }

  /** The data of the next event of a kind. */
  async next<T>(kind: "started" | "line" | "exit"): Promise<T> {
    for (;;) {
      const { value, done } = await this.#events.next();
      if (done) throw new Error(`no ${kind}`);
      if (value.event === kind) return JSON.parse(value.data) as T;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#leave.abort();
  }
}

interface Program {
  command: string;
  args?: string[];
  env?: Record<string, string>;
  cwd?: string;
}

async function post(sandbox: Sandbox, session: string, program: Program, signal?: AbortSignal) {
  return sandbox.request(`/v1/sessions/${session}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(program),
    ...(signal && { signal }),
  });
}

async function start(sandbox: Sandbox, session: string, program: Program): Promise<Started> {
  const leave = new AbortController();
  const response = await post(sandbox, session, program, leave.signal);
  expect(response.status).toBe(200);
  return new Started(response, leave);
}

const sh = (script: string, more: Partial<Program> = {}): Program => ({
  command: "sh",
  args: ["-c", script],
  ...more,
});

/** Waits for a line. */
const WAITS = "read -r line";

describe("the environment of a program", () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await Sandbox.start({ settings: { SANDBOX_MCP: "1" } });
  });
  afterAll(() => sandbox[Symbol.asyncDispose]());

  /** The environments of the processes outside of the walls that have to do with the sandbox. */
  function environmentsOutside(): string[] {
    const here = readlinkSync("/proc/self/ns/mnt");
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => linkOf(`/proc/${pid}/ns/mnt`) === here)
      .map((pid) => textOf(`/proc/${pid}/environ`))
      .filter((text) => text.includes("SANDBOX_RUNNER="));
  }

  testWith("root", "bwrap")("exists only inside of the walls", async () => {
    const env = {
      LD_PRELOAD: "./x.so",
      LD_AUDIT: "./x.so",
      LD_LIBRARY_PATH: "/workspace",
      GCONV_PATH: "/workspace",
      BASH_ENV: "/workspace/x.sh",
      ENV: "/workspace/x.sh",
      PATH: "/workspace:/usr/bin:/bin",
      NODE_OPTIONS: "--require=/workspace/x.js",
      PYTHONSTARTUP: "/workspace/x.py",
      PYTHONHOME: "/workspace",
      PYTHONPATH: "/workspace/x",
      IFS: "'",
      QUOTED: `it's "$HOME" \`x\` \\ \n end`,
    };
    const names = Object.keys(env);
    const print = `for name in ${names.join(" ")}; do eval "printf '%s=%s;' $name \\"\\$$name\\""; done | tr '\\n' '~'; echo`;
    await using program = await start(sandbox, "env", sh(`${print}; ${WAITS}`, { env }));
    const { line } = await program.next<{ line: string }>("line");
    for (const [name, value] of Object.entries(env)) {
      if (name !== "IFS") expect(line).toContain(`${name}=${value.replaceAll("\n", "~")};`);
    }
    const outside = environmentsOutside();
    expect(outside).not.toEqual([]);
    for (const text of outside) {
      const found = text.split("\0").map((variable) => variable.split("=")[0] ?? "");
      // A shell adds the last two by itself.
      expect(["PATH", "SANDBOX_RUNNER", "PWD", "_", ""]).toEqual(expect.arrayContaining(found));
      expect(text).not.toContain("PATH=/workspace");
    }
  });

  test.each([
    ["LD_DEBUG", (out: string) => ({ LD_DEBUG: "files", LD_DEBUG_OUTPUT: join(out, "trace") })],
    ["LD_PRELOAD", (out: string) => ({ LD_PRELOAD: join(out, "x.so") })],
    ["BASH_ENV", (out: string) => ({ BASH_ENV: join(out, "x.sh"), ENV: join(out, "x.sh") })],
    ["NODE_OPTIONS", (out: string) => ({ NODE_OPTIONS: `--diagnostic-dir=${out} --cpu-prof` })],
  ])("gives %s no file outside to read or write", async (_, envOf) => {
    const out = mkdtempSync(join(tmpdir(), "sandbox-out-"));
    try {
      await using program = await start(sandbox, "trace", sh("echo ran", { env: envOf(out) }));
      expect(await program.next<Exit>("exit")).toMatchObject({ exit_code: 0 });
      expect(readdirSync(out)).toEqual([]);
    } finally {
      rmSync(out, { recursive: true });
    }
  });
});

testWith("bwrap")(
  "a program runs in the directory that it was shown, and sockets fit into its TMPDIR",
  async () => {
    await using sandbox = await Sandbox.start({ settings: { SANDBOX_MCP: "1" } });
    await sandbox.request("/v1/sessions/shown/files/sub/x", { method: "PUT", body: "x" });
    for (const cwd of ["sub", "./sub", "/workspace/sub"]) {
      await using program = await start(sandbox, "shown", sh("pwd; echo $TMPDIR", { cwd }));
      expect(await program.next("line")).toEqual({ line: "/workspace/sub" });
      expect(await program.next("line")).toEqual({ line: "/tmp" });
    }
    for (const cwd of ["/workspace", ".", "./"]) {
      await using program = await start(sandbox, "shown", sh("pwd", { cwd }));
      expect(await program.next("line")).toEqual({ line: "/workspace" });
    }
    for (const cwd of ["/etc", "/workspaces", "../x", "/workspace/../x"])
      expect((await post(sandbox, "shown", sh("pwd", { cwd }))).status).toBe(422);
  },
);

test("a program that another process killed reports it", async () => {
  await using sandbox = await Sandbox.start({ settings: { SANDBOX_MCP: "1" } });
  await using program = await start(sandbox, "killed", sh("kill -9 $$"));
  expect(await program.next("exit")).toMatchObject({
    reason: expect.stringContaining("killed, and not by the sandbox: the kernel") as string,
  });
});

describe("a program that cannot be started", () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await Sandbox.start({ settings: { SANDBOX_MCP: "1", SANDBOX_MAX_PROGRAMS: "1" } });
  });
  afterAll(() => sandbox[Symbol.asyncDispose]());

  test.each<[string, Program]>([
    ["a NUL in an argument", { command: "sh", args: ["a\0b"] }],
    ["a NUL in the command", { command: "s\0h" }],
    ["a NUL in a variable", { command: "sh", env: { A: "a\0b" } }],
    ["a large argument", { command: "sh", args: ["é".repeat(70_000)] }],
    ["8 MB of arguments", { command: "sh", args: Array<string>(80).fill("x".repeat(100_000)) }],
    ["a variable of shells", { command: "sh", env: { PPID: "1" } }],
  ])("because of %s is refused, and takes no place", async (_, program) => {
    const response = await post(sandbox, "bad", program);
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ code: "invalid_body" });
    await using started = await start(sandbox, "good", sh("echo runs"));
    expect(await started.next("line")).toEqual({ line: "runs" });
    expect(await started.next("exit")).toMatchObject({ exit_code: 0 });
  });

  test.each<[string, Program, RegExp]>([
    ["a program that is not there", { command: "no-such-program" }, /not found/],
    ["a directory that is not there", sh("true", { cwd: "no/such" }), /no\/such/],
  ])("because it %s ends, and frees its place", async (_, program, said) => {
    await using missing = await start(sandbox, "missing", program);
    const { exit_code, stderr } = await missing.next<Exit>("exit");
    expect(exit_code).toBeGreaterThan(0);
    expect(stderr).toMatch(said);
    await using started = await start(sandbox, "good", sh("echo runs"));
    expect(await started.next("exit")).toMatchObject({ exit_code: 0 });
  });
});

test("a session without programs gets a place of a session that has many", async () => {
  await using sandbox = await Sandbox.start({
    settings: { SANDBOX_MCP: "1", SANDBOX_MAX_PROGRAMS: "3" },
  });
  const answers = `while read -r line; do case $line in *slow*) ;; *) echo '{"jsonrpc":"2.0","id":1,"result":{}}' ;; esac; done`;
  const many = [
    await start(sandbox, "many", sh(answers)),
    await start(sandbox, "many", sh(answers)),
    await start(sandbox, "many", sh(answers)),
  ];
  const ids = await Promise.all(many.map((one) => one.next<{ program: string }>("started")));
  // The first one works: it is not ended.
  await sandbox.request(`/v1/sessions/many/mcp/${ids[0]?.program}`, {
    method: "POST",
    body: JSON.stringify({ jsonrpc: "2.0", id: 7, method: "slow" }),
  });
  await using other = await start(sandbox, "other", sh("echo mine; read -r line"));
  expect(await other.next("line")).toEqual({ line: "mine" });
  expect(await many[1]?.next("exit")).toMatchObject({
    reason: "The program was ended: other sessions need its place.",
  });
  await using third = await start(sandbox, "third", sh("echo mine; read -r line"));
  expect(await third.next("line")).toEqual({ line: "mine" });
  // Now each has one, and nothing is taken away.
  const fourth = await post(sandbox, "fourth", sh("true"));
  expect(fourth.status).toBe(429);
  expect(await fourth.json()).toMatchObject({ code: "too_many_programs" });
  for (const one of many) await one[Symbol.asyncDispose]();
});

testWith("python3")(
  "a program that needs too much memory names the reason of its end",
  async () => {
    await using sandbox = await Sandbox.start({
      settings: { SANDBOX_MCP: "1", SANDBOX_MEMORY_BYTES: "100000000" },
    });
    const code = "x = b'x' * 200_000_000; input()";
    await using program = await start(sandbox, "m", { command: "python3", args: ["-c", code] });
    expect(await program.next("exit")).toMatchObject({
      exit_code: null,
      reason:
        "The program was stopped: it needs more than 100000000 bytes of memory. The sandbox's SANDBOX_MEMORY_BYTES sets this limit.",
    });
  },
);

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
