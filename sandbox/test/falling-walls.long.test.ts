import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { findProgram, testWith } from "../../test/support/programs.ts";
import { Sandbox } from "../../test/support/sandbox.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "walls-"));
  await chmod(directory, 0o755);
});
afterEach(() => rm(directory, { recursive: true }));

interface Health {
  code: { isolation: string; walls: string[] };
  programs: { isolation: string; walls: string[] } | null;
  missing?: string[];
}

async function health(sandbox: Sandbox): Promise<Health> {
  return (await (await sandbox.request("/healthz")).json()) as Health;
}

/** A directory below one that only its owner may enter. */
async function hidden(): Promise<string> {
  const path = join(directory, "home/servers");
  await mkdir(path, { recursive: true });
  await chmod(join(directory, "home"), 0o700);
  return path;
}

/** A `PATH` with a bubblewrap that fails as often as this, with these words, before it works. */
async function failingAtFirst(times: number, words: string): Promise<string> {
  const script = `#!/bin/sh
for n in ${Array.from({ length: times }, (_, n) => n).join(" ")}; do
  if mkdir ${directory}/failed-$n 2>/dev/null; then echo "bwrap: ${words}" >&2; exit 1; fi
done
exec ${findProgram("bwrap")} "$@"
`;
  await mkdir(join(directory, "bin"));
  await writeFile(join(directory, "bin/bwrap"), script, { mode: 0o755 });
  await chmod(directory, 0o777);
  return [join(directory, "bin"), process.env.PATH].join(delimiter);
}

testWith("bwrap")("the first line of the log and /healthz name the isolation", async () => {
  await using sandbox = await Sandbox.start();
  expect(sandbox.firstLines[0]).toMatch(
    /^Isolation of code: process, namespaces( and cgroups)?\. Programs of MCP servers: /,
  );
  const { code } = await health(sandbox);
  expect(code).toMatchObject({ isolation: "process" });
  expect(code.walls).toContain("namespaces");
});

testWith("bwrap")(
  "the first line names the isolation of programs beside code in WebAssembly",
  async () => {
    await using sandbox = await Sandbox.start({
      settings: { SANDBOX_ISOLATION: "wasm", SANDBOX_MCP: "1", SANDBOX_POOL: "0" },
    });
    expect(sandbox.firstLines[0]).toMatch(
      /^Isolation of code: wasm\. Programs of MCP servers: process, namespaces/,
    );
    expect(await health(sandbox)).toMatchObject({
      code: { isolation: "wasm", walls: [] },
      programs: { isolation: "process", walls: expect.arrayContaining(["namespaces"]) },
    });
  },
);

testWith("root", "bwrap")(
  "a directory that code cannot reach stops the start, by its name",
  async () => {
    const path = await hidden();
    for (const isolation of ["process", "wasm"]) {
      const started = Sandbox.start({
        settings: {
          SANDBOX_ISOLATION: isolation,
          SANDBOX_POOL: "0",
          SANDBOX_MCP: "1",
          SANDBOX_READABLE: path,
        },
      });
      await expect(started).rejects.toThrow(
        new RegExp(`but not with ${path}: .*SANDBOX_ISOLATION_STRICT=0`, "s"),
      );
    }
  },
);

testWith("root", "bwrap")(
  "a service with SANDBOX_ISOLATION_STRICT=0 starts with such a directory, and says so",
  async () => {
    const path = await hidden();
    await using sandbox = await Sandbox.start({
      settings: { SANDBOX_READABLE: path, SANDBOX_ISOLATION_STRICT: "0" },
    });
    expect(sandbox.firstLines[0]).toMatch(
      /^Isolation of code: process, (cgroups|without namespaces)/,
    );
    const { code, missing } = await health(sandbox);
    expect(code.walls).not.toContain("namespaces");
    expect(missing).toContainEqual(expect.stringContaining(path));
  },
);

testWith("bwrap")("a machine under load that fails at first has its walls", async () => {
  const path = await failingAtFirst(
    2,
    "Creating new namespace failed: Resource temporarily unavailable",
  );
  await using sandbox = await Sandbox.start({ settings: { PATH: path } });
  expect((await health(sandbox)).code.walls).toContain("namespaces");
});

testWith("bwrap")("a service on a machine that forbids namespaces starts and says so", async () => {
  const path = await failingAtFirst(9, "Creating new namespace failed: Operation not permitted");
  await using sandbox = await Sandbox.start({ settings: { PATH: path } });
  const { code, missing } = await health(sandbox);
  expect(code.walls).not.toContain("namespaces");
  expect(missing).toContainEqual(
    expect.stringMatching(/^namespaces: bubblewrap cannot make namespaces here: .*not permitted$/),
  );
});
