import { expect, test } from "vitest";
import { SandboxScripts } from "#components/sandbox/sandbox-scripts.ts";

test("A script of a skill names what it needs where the sandbox has no folders, as in containers", async () => {
  const health = { status: "ok", env: true, folders: false };
  const scripts = new SandboxScripts({
    url: "https://sandbox.example.com",
    fetch: () => Promise.resolve(Response.json(health)),
  });
  const files = [{ path: "scripts/hello.py", bytes: new TextEncoder().encode("print(1)") }];
  const call = { skill: "greet", path: "hello.py", args: [], files };
  const { signal } = new AbortController();
  await expect(scripts.run(call, { attempt: 1, idempotencyKey: "k", signal })).rejects.toThrow(
    /scripts of skills need.*use a sandbox service \(SANDBOX_URL with CODE=service\)/,
  );
});
