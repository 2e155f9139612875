import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { ROOT } from "../../test/support/npm-start.ts";
import { testWith } from "../../test/support/programs.ts";
import { Sandbox } from "../../test/support/sandbox.ts";

// Environment variables of a request to execute code.

const KEY = 'sk-"süß"-0123456789';
const PEM = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\n-----END KEY-----";

interface Answer {
  exit_code: number;
  output: string;
  errors: { path: string; message: string }[];
}

describe.each(["wasm", "process"])("an environment in %s", (isolation) => {
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
        SANDBOX_OUTPUT_BYTES: "2000",
      },
    });
  });
  afterAll(async () => {
    await sandbox[Symbol.asyncDispose]();
    await rm(data, { recursive: true });
  });

  const ask = (
    blocks: readonly (readonly [language: string, code: string])[],
    env: Record<string, unknown>,
    headers: Record<string, string> = {},
  ): Promise<Response> =>
    sandbox.request("/v1/sessions/one/execute", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({
        code_blocks: blocks.map(([language, code]) => ({ language, code })),
        env,
      }),
    });

  const run = async (...args: Parameters<typeof ask>): Promise<Answer> =>
    (await (await ask(...args)).json()) as Answer;

  test("are set for the blocks of their request only", async () => {
    const shown = [
      ["python", "import os\nprint(os.environ.get('API_KEY', '')[:2], 'API_KEY' in os.environ)"],
      [
        "sh",
        "echo \"${API_KEY%%-*}\"; python3 -c \"import os; print(len(os.environ.get('API_KEY', '')))\"",
      ],
    ] as const;
    expect((await run(shown, { API_KEY: KEY })).output).toBe("sk True\nsk\n19\n");
    expect((await run(shown, {})).output).toBe(" False\n\n0\n");
  });

  test("have values that do not appear in the output, its stream or the stored result", async () => {
    const code = `import json, os, sys
key = os.environ["API_KEY"]
print("key:", key, json.dumps(key))
for piece in (key[:5], key[5:], "\\n"):
    sys.stdout.write(piece)
    sys.stdout.flush()
print(os.environ["PEM"])
raise ValueError(key)`;
    const env = { API_KEY: KEY, PEM };
    const stream = await ask([["python", code]], env, {
      accept: "text/event-stream",
      "idempotency-key": "stored",
    });
    const text = await stream.text();
    const { output } = await run([["python", code]], env, { "idempotency-key": "stored" });
    // A value of several lines is taken out as one, or line by line where its lines arrive apart.
    expect(output).toMatch(/key: \[redacted\] "\[redacted\]"\n(\[redacted\]\n){2,4}Traceback/);
    expect(output).toContain("ValueError: [redacted]");
    const stored: string[] = [];
    for (const entry of await readdir(data, { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) stored.push(await readFile(join(entry.parentPath, entry.name), "utf8"));
    }
    expect(stored.join("\n")).toContain("[redacted]");
    for (const part of ["0123456789", "MIIEvQIBADANBgkqhkiG", "BEGIN KEY"]) {
      expect(text).not.toContain(part);
      expect(output).not.toContain(part);
      expect(stored.join("\n")).not.toContain(part);
    }
  });

  test("are not shown when the limit of the output cuts a value in two", async () => {
    const code = `import os\nprint("a" * 1990 + os.environ["API_KEY"])`;
    const { output } = await run([["python", code]], { API_KEY: KEY });
    expect(output).toBe(`${"a".repeat(1990)}[redacted]`);
  });

  test("are part of the request by name: another value under the same key is the same request", async () => {
    const code = [["sh", 'echo "${#API_KEY}"']] as const;
    const headers = { "idempotency-key": "rotated" };
    expect((await run(code, { API_KEY: "1234567890" }, headers)).output).toBe("10\n");
    expect((await run(code, { API_KEY: "12345" }, headers)).output).toBe("10\n");
    expect((await ask(code, { OTHER_KEY: "12345" }, headers)).status).toBe(409);
  });

  test("are refused if they change how programs work, or are too long", async () => {
    for (const name of [
      "PATH",
      "LD_PRELOAD",
      "PYTHONPATH",
      "BASH_ENV",
      "SANDBOX_RUNNER",
      "UID",
      "a-b",
    ]) {
      const answer = await ask([["sh", "true"]], { [name]: "1" });
      expect(answer.status, name).toBe(422);
      expect(((await answer.json()) as Answer).errors[0]?.path).toBe(`env.${name}`);
    }
    for (const env of [
      { A: "a".repeat(131_001) },
      { A: "a".repeat(131_000), B: "b".repeat(131_000) },
      Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`A${index}`, "1"])),
      { A: "a\0b" },
      { A: 1 },
    ]) {
      const answer = await ask([["sh", "true"]], env);
      expect(answer.status).toBe(422);
      expect(((await answer.json()) as Answer).errors[0]?.path).toMatch(/^env/);
    }
  });

  test("are announced by the service", async () => {
    expect(await (await sandbox.request("/healthz")).json()).toMatchObject({ env: true });
  });
});
