import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sizesBelow } from "../process/file-sizes.ts";
import { hasProgram } from "../../test/support/programs.ts";
import { Sandbox } from "../../test/support/sandbox.ts";

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

describe.skipIf(!hasProgram("python3") || !hasProgram("bwrap"))("the resources of code", () => {
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
  ])("are counted for %s, which ends at the limit", async (name, code, said) => {
    const { exit_code, output } = await run(name.replaceAll(/\W/g, "-"), code);
    expect(output).toMatch(said);
    expect(output).not.toContain("never");
    expect(exit_code).toBe(said === memory ? 137 : 1);
    const { bytes } = await sizesBelow(sandbox.temporary, { bytes: Infinity, files: Infinity });
    expect(bytes).toBeLessThan(MOST);
  });

  test("do not include the rest of an ended block, and the files of its workspace stay", async () => {
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

  test("include no file system in memory that can be written to", async () => {
    const code = `
for path in ["/x", "/dev/x", "/proc/x", "/run/x", "/var/x", "/code/x"]:
    try: open(path, "wb").write(b"1"); print(path)
    except OSError: pass
print("end")`;
    expect((await run("memory", code)).output).toBe("end\n");
  });

  test("include no shared memory of System V, and that of Python's library works", async () => {
    const segment = `import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print(libc.shmget(0, 1_000_000_000, 0o1600), ctypes.get_errno())`;
    expect((await run("segments", segment)).output).toBe("-1 38\n");
    const library = `from multiprocessing import shared_memory
block = shared_memory.SharedMemory(create=True, size=1_000_000)
block.buf[0] = 42; print(block.buf[0]); block.close(); block.unlink()`;
    expect((await run("segments", library)).output).toBe("42\n");
  });

  test("include nothing that Docker refuses by default, and threads, processes and sockets work", async () => {
    const calls = `import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
x64 = platform.machine() == "x86_64"
def call(*args):
    ctypes.set_errno(0)
    return libc.syscall(*args), ctypes.get_errno()
print(call(272 if x64 else 97, 0x10000000))        # unshare: a namespace of users
print(call(56 if x64 else 220, 0x10000011, 0, 0, 0, 0))  # clone into one
print(call(435, 0, 0))                              # clone3
print(call(250 if x64 else 219, 0, 0, 0))           # keyctl
print(call(321 if x64 else 280, 0, 0, 0))           # bpf
print(call(425, 1, 0))                              # io_uring_setup
print(call(135 if x64 else 92, 0x40000))            # personality: no random addresses
print(call(135 if x64 else 92, 0xffffffff)[1])      # personality: which one
print(call(41 if x64 else 198, 40, 1, 0))           # a socket to the host of a virtual machine`;
    expect((await run("calls", calls)).output.trim().split("\n")).toEqual([
      "(-1, 1)",
      "(-1, 1)",
      "(-1, 38)",
      "(-1, 1)",
      "(-1, 1)",
      "(-1, 38)",
      "(-1, 1)",
      "0",
      "(-1, 1)",
    ]);
    const ordinary = `import socket, subprocess, threading
said = []
thread = threading.Thread(target=said.append, args=("thread",)); thread.start(); thread.join()
said.append(subprocess.run(["/bin/sh", "-c", "echo process"], capture_output=True, text=True).stdout.strip())
one, other = socket.socketpair(); one.send(b"socket"); said.append(other.recv(10).decode())
print(said)`;
    expect((await run("calls", ordinary)).output).toBe("['thread', 'process', 'socket']\n");
  });

  test("leave nothing on the machine when the session ends", async () => {
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
