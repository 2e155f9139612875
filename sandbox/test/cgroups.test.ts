import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Cgroups } from "../process/cgroups.ts";
import { Sandbox } from "../../test/support/sandbox.ts";

const LIMITS = { SANDBOX_MEMORY_BYTES: "150000000", SANDBOX_MAX_PROCESSES: "30" };

/** The reason why this machine has no cgroups, as the service tells it; undefined where it has them. */
async function reasonHere(): Promise<string | undefined> {
  await using sandbox = await Sandbox.start();
  const health = (await (await sandbox.request("/healthz")).json()) as { missing?: string[] };
  return health.missing?.find((one) => one.startsWith("cgroups: "));
}

const reason = await reasonHere();

describe.skipIf(reason !== undefined)(
  reason === undefined ? "sessions in a cgroup" : `sessions in a cgroup (${reason})`,
  { timeout: 120_000 },
  () => {
    let sandbox: Sandbox;
    beforeAll(async () => {
      sandbox = await Sandbox.start({
        settings: { ...LIMITS, SANDBOX_ISOLATION_STRICT: "cgroups" },
      });
    });
    afterAll(() => sandbox[Symbol.asyncDispose]());

    async function run(
      code: string,
      session = "one",
    ): Promise<{ exit_code: number; output: string }> {
      const response = await sandbox.execute(session, [["sh", code]], { timeout: 60 });
      return (await response.json()) as { exit_code: number; output: string };
    }

    test("share the memory limit of their processes, and one more byte ends all of them", async () => {
      const keep = "head -c 60000000 /dev/zero | tail -c 60000000 | (sleep 5; wc -c) &";
      const result = await run(`${keep} ${keep} ${keep} wait; echo not reached`);
      expect(result).toMatchObject({ exit_code: 137, output: expect.stringMatching(/memory/) });
      expect(result.output).not.toContain("not reached");
      expect(await run("echo runs again")).toMatchObject({ output: "runs again\n" });
    });

    test("have one group for a block and the processes it starts, which goes with the session", async () => {
      const running = run("sleep 7.111 & sleep 7.111", "groups");
      let groups: string[] = [];
      while (groups.length < 2) groups = await groupsOf("sleep 7.111");
      expect(groups).toEqual([expect.stringMatching(/-[0-9a-f]{8}-[-0-9a-f]{27}$/), groups[0]]);
      await running;
      await sandbox.request("/v1/sessions/groups", { method: "DELETE" });
      const mounts = await readFile("/proc/self/mountinfo", "utf8");
      const root = / (\S+) \S+ .*- cgroup2 /.exec(mounts)?.[1] ?? "";
      expect(root).not.toBe("");
      expect(existsSync(join(root, groups[0] ?? ""))).toBe(false);
    });

    test("keep a fork bomb in its limit, and other sessions run", async () => {
      const [bomb, other] = await Promise.all([
        run("bomb() { bomb | bomb & }; bomb; sleep 2; echo over"),
        run("sleep 1; echo fine", "two"),
      ]);
      expect(bomb.output).toMatch(/fork|Resource temporarily unavailable/i);
      expect(other.output).toBe("fine\n");
    });
  },
);

/** The cgroups of all processes with this command line. */
async function groupsOf(command: string): Promise<string[]> {
  const all = await Promise.all(
    (await readdir("/proc"))
      .filter((name) => /^\d+$/.test(name))
      .map(async (pid) => {
        const read = (file: string) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
        const line = (await read("cmdline")).replaceAll("\0", " ").trim();
        return line === command ? [/^0::(.*)$/m.exec(await read("cgroup"))?.[1] ?? ""] : [];
      }),
  );
  return all.flat();
}

describe("a machine has no cgroups", () => {
  /** A file system with the files of a kernel. */
  async function root(files: Record<string, string>): Promise<string> {
    const directory = await mkdtemp(join(tmpdir(), "cgroups-"));
    onTestFinished(() => rm(directory, { recursive: true }));
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(directory, path)), { recursive: true });
      await writeFile(join(directory, path), text);
    }
    return directory;
  }

  const MOUNTED =
    "30 23 0:26 / /proc rw - proc proc rw\n35 24 0:30 /box /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";
  const OWN = { "proc/self/cgroup": "0::/box/one\n", "proc/self/mountinfo": MOUNTED };

  test.each([
    ["without Linux", {}, /sees no cgroup of version 2/],
    [
      "with version 1 only",
      {
        "proc/self/cgroup": "4:memory:/\n",
        "proc/self/mountinfo": "1 2 0:1 / /x rw - cgroup cgroup rw",
      },
      /sees no cgroup of version 2/,
    ],
    [
      "with groups of another namespace only",
      {
        "proc/self/cgroup": "0::/\n",
        "proc/self/mountinfo": MOUNTED.replace(" /box ", " /../box "),
      },
      /sees no cgroup of version 2/,
    ],
    [
      "without the controllers",
      { ...OWN, "sys/fs/cgroup/one/cgroup.controllers": "cpu memory\n" },
      /^\S+\/sys\/fs\/cgroup\/one does not have the controllers pids$/,
    ],
    [
      "without the right to make groups",
      {
        ...OWN,
        "sys/fs/cgroup/one/cgroup.controllers": "memory pids\n",
        "sys/fs/cgroup/one/cgroup.subtree_control": "memory pids\n",
        // In place of a directory that is not writable, which root would not notice.
        "sys/fs/cgroup/one/box-try": "",
      },
      /^the service may not make groups: EEXIST/,
    ],
  ])("if it runs %s", async (_, files, why) => {
    const directory = await root(files);
    expect(await Cgroups.find("box", directory)).toMatch(why);
  });

  test("if the group of the service cannot have subgroups, and the service stays in it", async () => {
    const group = "sys/fs/cgroup/one";
    const directory = await root({
      ...OWN,
      [`${group}/cgroup.controllers`]: "memory pids\n",
      [`${group}/cgroup.type`]: "domain\n",
      [`${group}/cgroup.procs`]: "1\n7\n",
      [`${group}/box-service/cgroup.procs`]: "",
      // Cannot be written.
      [`${group}/cgroup.subtree_control/x`]: "",
    });
    expect(await Cgroups.find("box", directory)).toMatch(
      /^the service may not make groups: EISDIR/,
    );
    expect(await readdir(join(directory, group))).not.toContain("box-try");
    expect(await readFile(join(directory, group, "cgroup.procs"), "utf8")).toBe("1\n7\n");
  });
});
