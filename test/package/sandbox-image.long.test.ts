import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../support/npm-start.ts";
import { freePort } from "../support/ports.ts";

/** The instructions of the Dockerfile, each on one line. */
const INSTRUCTIONS = readFileSync(join(ROOT, "sandbox/Dockerfile"), "utf8")
  .replaceAll(/^#.*\n/gm, "")
  .replaceAll("\\\n", " ")
  .split("\n")
  .filter((line) => line !== "");

function instructions(name: string): string[] {
  return INSTRUCTIONS.filter((line) => line.startsWith(`${name} `)).map((line) =>
    line.slice(name.length + 1).trim(),
  );
}

/** The names of the context that the image may copy. */
const CONTEXT = readFileSync(join(ROOT, "sandbox/Dockerfile.dockerignore"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("!"))
  .map((line) => line.slice(1));

test("the steps of the sandbox's image, run by hand in a clean directory, make a service that runs", async () => {
  const app = mkdtempSync(join(tmpdir(), "sandbox-image-"));
  const port = await freePort();
  try {
    for (const copied of instructions("COPY")) {
      const names = copied.split(/\s+/);
      const target = join(app, names.pop() ?? "");
      for (const name of names) {
        expect(CONTEXT.some((given) => name === given || name.startsWith(`${given}/`))).toBe(true);
        const into =
          names.length > 1 || copied.endsWith("/") ? join(target, fileName(name)) : target;
        mkdirSync(join(into, ".."), { recursive: true });
        cpSync(join(ROOT, name), into, {
          recursive: true,
          filter: (path) => !path.includes("node_modules"),
        });
      }
      const install = instructions("RUN").find((line) => line.startsWith("npm ci"));
      // When the lock file and the manifests are there, as in the image.
      if (existsSync(join(app, "sandbox/package.json")) && !existsSync(join(app, "node_modules")))
        execFileSync("sh", ["-c", install?.replace(/ && npm cache.*/, "") ?? "false"], {
          cwd: app,
          stdio: "pipe",
        });
    }
    // Its index is not asked, because no package is named.
    const python = join(app, "python");
    // As root, code runs as other users.
    chmodSync(app, 0o755);
    const step = instructions("RUN").find((line) => line.startsWith("python3 -m venv")) ?? "false";
    execFileSync("sh", ["-c", step.replaceAll("/opt/python", python)], {
      env: { PATH: `/usr/bin:${process.env.PATH}`, SANDBOX_PACKAGES: "" },
      stdio: "pipe",
    });
    const settings = Object.fromEntries(
      instructions("ENV").flatMap((line) => line.split(/\s+/).map((one) => one.split("="))),
    ) as Record<string, string>;
    expect(settings).toMatchObject({
      SANDBOX_ISOLATION: "process",
      SANDBOX_PYTHON: "/opt/python",
      SANDBOX_DATA: "/data",
    });
    const command = instructions("CMD").find((line) => line.startsWith('["node", "s')) ?? "[]";
    const [program = "", ...args] = JSON.parse(command) as string[];
    expect(program).toBe("node");
    const service = spawn(process.execPath, args, {
      cwd: app,
      env: {
        PATH: process.env.PATH,
        ...settings,
        SANDBOX_DATA: join(app, "data"),
        SANDBOX_PYTHON: python,
        SANDBOX_HOST: "127.0.0.1",
        SANDBOX_PORT: String(port),
        SANDBOX_KEY: "0123456789abcdef",
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      let output = "";
      for await (const text of service.stdout.setEncoding("utf8")) {
        output += text;
        if (output.includes("listening")) break;
      }
      const health = await fetch(`http://127.0.0.1:${port}/healthz`);
      expect(await health.json()).toMatchObject({ status: "ok", code: { isolation: "process" } });
    } finally {
      service.kill();
      await once(service, "exit");
    }
  } finally {
    rmSync(app, { recursive: true, force: true });
  }
});

function fileName(path: string): string {
  return path.split("/").at(-1) ?? "";
}
