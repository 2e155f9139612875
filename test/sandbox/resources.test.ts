import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sizesBelow } from "../../sandbox/process/file-sizes.ts";
import { hasProgram } from "../support/programs.ts";
import { Sandbox } from "../support/sandbox.ts";

const MEMORY = 100_000_000;
const TEMPORARY = 20_000_000;

interface Result {
  exit_code: number;
  output: string;
}

/** A disk that is written to while nothing looks takes more than the limit, but not many times as much. */
const MOST = 40 * TEMPORARY;

const memory = /needs more than 100000000 bytes of memory/;
const temporary = /left more than 20000000 bytes, or too many files, outside of its workspace/;

/** Python that fills a file as long as it may. */
const fill = (path: string): string => `
import time
with open(${JSON.stringify(path)}, "wb") as file:
    for _ in range(400): file.write(bytes(1_000_000)); file.flush()
time.sleep(20)
print("never")
`;

describe.skipIf(!hasProgram("python3") || !hasProgram("bwrap"))("what code takes", () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await Sandbox.start({
      settings: {
        SANDBOX_MEMORY_BYTES: String(MEMORY),
        SANDBOX_TEMPORARY_BYTES: String(TEMPORARY),
        SANDBOX_WORKSPACE_BYTES: "500000000",
        SANDBOX_WORKSPACE_FILES: "100",
      },
    });
  });
  afterAll(() => sandbox[Symbol.asyncDispose]());

  async function run(session: string, code: string): Promise<Result> {
    const response = await sandbox.execute(session, [["python", code]], { timeout: 20 });
    return (await response.json()) as Result;
  }

  test.each<[string, string, RegExp]>([
    ["files in /tmp", fill("/tmp/large"), temporary],
    ["files in /dev/shm", fill("/dev/shm/large"), memory],
    [
      "many small files",
      `import os\nfor n in range(5_000): open(f"/tmp/{n}", "w").close()\nimport time; time.sleep(20)`,
      temporary,
    ],
    [
      "space that a file does not show",
      `import ctypes, os, time
file = os.open("/tmp/reserved", os.O_CREAT | os.O_RDWR)
libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate64.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
if libc.fallocate64(file, 1, 0, 200_000_000) != 0: os.write(file, bytes(30_000_000))
time.sleep(20)`,
      temporary,
    ],
    [
      "files that are deleted and open",
      `import os, time
held = []
for n in range(6):
    held.append(open(f"/tmp/{n}", "wb")); os.remove(f"/tmp/{n}"); held[-1].write(bytes(9_000_000)); held[-1].flush()
time.sleep(20)`,
      temporary,
    ],
    [
      "files in memory",
      `import os, time
file = os.memfd_create("x")
for _ in range(200): os.write(file, bytes(1_000_000))
time.sleep(20)`,
      memory,
    ],
  ])("%s is counted, and ends it", async (name, code, said) => {
    const { exit_code, output } = await run(name.replaceAll(/\W/g, "-"), code);
    expect(output).toMatch(said);
    expect(output).not.toContain("never");
    expect(exit_code).toBe(said === memory ? 137 : 1);
    const { bytes } = await sizesBelow(sandbox.temporary, { bytes: Infinity, files: Infinity });
    expect(bytes).toBeLessThan(MOST);
  });

  test("what a block left behind is gone, and the files of its workspace stay", async () => {
    const code = `open("kept", "w").write("42"); open("/tmp/large", "wb").write(bytes(25_000_000))`;
    expect(await run("left", code)).toMatchObject({
      exit_code: 1,
      output: expect.stringMatching(temporary),
    });
    const after = await run(
      "left",
      `import os; print(open("kept").read(), "large" in os.listdir("/tmp"))`,
    );
    expect(after).toMatchObject({ exit_code: 0, output: "42 False\n" });
  });

  test("no file system in memory can be written to", async () => {
    const code = `
for path in ["/x", "/dev/x", "/proc/x", "/run/x", "/var/x", "/code/x"]:
    try: open(path, "wb").write(b"1"); print(path)
    except OSError: pass
print("end")`;
    expect((await run("memory", code)).output).toBe("end\n");
  });

  test("shared memory of System V cannot be made; that of Python's library works", async () => {
    const segment = `import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print(libc.shmget(0, 1_000_000_000, 0o1600), ctypes.get_errno())`;
    expect((await run("segments", segment)).output).toBe("-1 38\n");
    const library = `from multiprocessing import shared_memory
block = shared_memory.SharedMemory(create=True, size=1_000_000)
block.buf[0] = 42; print(block.buf[0]); block.close(); block.unlink()`;
    expect((await run("segments", library)).output).toBe("42\n");
  });

  test("a session leaves nothing on the machine when it ends", async () => {
    await run("gone", `open("/dev/shm/x", "w").write("1"); open("/tmp/x", "w").write("1")`);
    await sandbox.request("/v1/sessions/gone", { method: "DELETE" });
    const { bytes } = await sizesBelow(sandbox.temporary, { bytes: Infinity, files: Infinity });
    const before = bytes;
    await run(
      "gone-2",
      `open("/dev/shm/x", "w").write("1" * 1000); open("/tmp/x", "w").write("1")`,
    );
    await sandbox.request("/v1/sessions/gone-2", { method: "DELETE" });
    const after = await sizesBelow(sandbox.temporary, { bytes: Infinity, files: Infinity });
    expect(after.bytes).toBeLessThan(before + 1000);
  });
});
