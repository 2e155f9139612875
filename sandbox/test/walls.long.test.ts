import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm, symlink } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../test/support/ports.ts";
import { ROOT } from "../../test/support/npm-start.ts";
import { hasProgram } from "../../test/support/programs.ts";
import { Sandbox } from "../../test/support/sandbox.ts";

/** Why code cannot be tried behind walls on this machine; undefined when it can. */
const reason = ((): string | undefined => {
  const lacking = ["bwrap", "python3"].filter((program) => !hasProgram(program));
  if (lacking.length > 0) return `needs ${lacking.join(", ")}`;
  try {
    execFileSync("bwrap", [
      "--unshare-all",
      "--unshare-user",
      "--disable-userns",
      "--ro-bind",
      "/",
      "/",
      "true",
    ]);
    return undefined;
  } catch (error) {
    return (error as Error).message.trim();
  }
})();

let server: Server;
let port: number;
/** A `PATH` without bubblewrap. */
let programs: string;

beforeAll(async () => {
  server = createServer((_, response) => response.end("reached"));
  await once(server.listen(0, "127.0.0.1"), "listening");
  ({ port } = server.address() as AddressInfo);
  programs = await mkdtemp(join(tmpdir(), "programs-"));
  await chmod(programs, 0o755);
  for (const program of ["sh", "cat", "mkdir", "ln"]) {
    const path = execFileSync("sh", ["-c", `PATH=/usr/bin:/bin command -v ${program}`], {
      encoding: "utf8",
    });
    await symlink(path.trim(), join(programs, program));
  }
});

afterAll(async () => {
  server.close();
  await rm(programs, { recursive: true });
});

async function output(
  sandbox: Sandbox,
  session: string,
  language: string,
  code: string,
): Promise<string> {
  const response = await sandbox.execute(session, [[language, code]]);
  return ((await response.json()) as { output: string }).output;
}

async function missing(sandbox: Sandbox): Promise<string[]> {
  const health = (await (await sandbox.request("/healthz")).json()) as { missing?: string[] };
  return health.missing ?? [];
}

const NAMESPACES = expect.stringMatching(/^namespaces: /) as string;

const reach = (): string =>
  `import urllib.request\nprint(urllib.request.urlopen("http://127.0.0.1:${port}", timeout=5).read().decode())`;

const behindWalls = reason === undefined ? "code behind walls" : `code behind walls (${reason})`;

describe.skipIf(reason !== undefined)(behindWalls, () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await Sandbox.start({ settings: { SANDBOX_ISOLATION_STRICT: "namespaces" } });
  });
  afterAll(() => sandbox[Symbol.asyncDispose]());

  const run = (language: string, code: string, session = "one"): Promise<string> =>
    output(sandbox, session, language, code);

  test("every namespace is in use", async () => {
    expect(await missing(sandbox)).not.toContainEqual(NAMESPACES);
  });

  test.each([
    ["a server of this machine", "python", reach, /Connection refused/],
    [
      "any network",
      "python",
      () =>
        "import socket\nprint([name for _, name in socket.if_nameindex()])\nsocket.create_connection(('192.0.2.1', 80), 5)",
      /^\['lo'\]\n[\s\S]*(unreachable|timed out)/i,
    ],
    [
      "other processes",
      "sh",
      () => "ls /proc | grep -c '^[0-9]'; ls -d /proc/$PPID/cwd",
      /^[1-6]\n/,
    ],
    [
      "the service",
      "sh",
      () => `kill -9 ${sandbox.pid}; kill -9 -1; echo not reached`,
      /No such process/,
    ],
    ["this project", "sh", () => `cat ${ROOT}/package.json`, /No such file/],
    ["sessions on disk", "sh", () => `ls ${sandbox.temporary}`, /No such file/],
    ["homes", "sh", () => "ls /root /home 2>&1 | grep -vc 'No such file'", /^0\n/],
    [
      "files of the system",
      "sh",
      () => "echo x > /usr/intruder; echo x > /etc/passwd; mount",
      /Read-only file system|Permission denied/,
    ],
    [
      "devices",
      "sh",
      () => "ls /dev/sda /dev/mem /dev/kmsg 2>&1 | grep -vc 'No such file'",
      /^0\n/,
    ],
    [
      "namespaces of its own",
      "sh",
      () => "unshare -U true && echo made",
      /^(?!made)[\s\S]*unshare/,
    ],
    ["the name of this machine", "sh", () => "cat /proc/sys/kernel/hostname", /^sandbox\n$/],
    ["a user's rights", "sh", () => "grep CapEff /proc/self/status", /CapEff:\s0+\n/],
    [
      "the key",
      "sh",
      () => "env; cat /proc/*/environ 2>/dev/null",
      /^(?![\s\S]*a-key-for-tests-only)/,
    ],
  ])("code cannot reach %s", async (_, language, code, said) => {
    expect(await run(language, code())).toMatch(said);
    expect((await sandbox.request("/healthz")).status).toBe(200);
  });

  test("sessions share no files, and a session keeps its temporary ones", async () => {
    expect(await run("sh", "echo 42 > /tmp/x; pwd; echo $HOME $TMPDIR")).toBe(
      "/workspace\n/workspace /tmp\n",
    );
    expect(await run("sh", "cat /tmp/x")).toBe("42\n");
    expect(await run("sh", "cat /tmp/x", "two")).toContain("No such file");
  });

  test("processes that a block leaves running end", async () => {
    await run("sh", "setsid sleep 987 & sleep 0.2");
    const left = execFileSync("sh", ["-c", "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '"], {
      encoding: "utf8",
    });
    expect(left).not.toContain("sleep 987");
  });

  test("code has the network if a setting gives it", async () => {
    await using open = await Sandbox.start({ settings: { SANDBOX_NETWORK: "1" } });
    expect(await output(open, "one", "python", reach())).toBe("reached\n");
  });
});

describe("missing walls", () => {
  test("let the service run, which names the missing ones", async () => {
    await using sandbox = await Sandbox.start({ settings: { PATH: programs } });
    expect(await missing(sandbox)).toContain("namespaces: bubblewrap (bwrap) is not installed");
    expect(await output(sandbox, "one", "sh", "echo runs; cat /etc/hostname > x")).toBe("runs\n");
    // Paths of sockets have at most 103 characters on every system.
    const length = await output(sandbox, "one", "sh", "echo ${#TMPDIR}");
    expect(Number(length) - sandbox.temporary.length).toBeLessThan(45);
  });

  test.runIf(process.getuid?.() === 0)(
    "leave no files of a session elsewhere when it is removed",
    async () => {
      await using sandbox = await Sandbox.start({ settings: { PATH: programs } });
      const path = `/tmp/sandbox-left-${sandbox.pid}`;
      await output(
        sandbox,
        "left",
        "sh",
        `mkdir ${path}; echo 42 > ${path}/x; ln -s /etc ${path}/etc`,
      );
      expect(existsSync(path)).toBe(true);
      await sandbox.request("/v1/sessions/left", { method: "DELETE" });
      expect(existsSync(path)).toBe(false);
      expect(existsSync("/etc/passwd")).toBe(true);
    },
    60_000,
  );

  test("keep the service from starting when they are required", async () => {
    const started = Sandbox.start({
      settings: {
        PATH: programs,
        SANDBOX_ISOLATION_STRICT: "1",
        SANDBOX_PORT: String(await freePort()),
      },
    });
    await expect(started).rejects.toThrow(
      "SANDBOX_ISOLATION_STRICT demands namespaces and cgroups, and this machine lacks namespaces: bubblewrap (bwrap) is not installed",
    );
  });
});
