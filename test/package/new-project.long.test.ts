import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { freePort } from "../support/ports.ts";
import { ROOT } from "../support/npm-start.ts";

// A new project as its users have it: made by `npm create troupe` from the packed packages.

const CREATE_TROUPE = join(ROOT, "create-troupe");

let directory: string;
let project: string;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "troupe-project-"));
  environment = { ...process.env, NO_COLOR: "1", npm_config_update_notifier: "false" };
  const troupe = inject("tarball");
  const packed = await run("npm", ["pack", "--pack-destination", directory], CREATE_TROUPE);
  const createTroupe = join(directory, packed.trim());
  const launcher = join(directory, "launcher");
  mkdirSync(launcher);
  writeFileSync(join(launcher, "package.json"), '{ "private": true }\n');
  await run("npm", ["install", "--no-audit", "--no-fund", troupe, createTroupe], launcher);
  await run("npx", ["create-troupe", "my-team", "--no-install"], launcher);
  project = join(launcher, "my-team");
  // The version that a project names is not published yet.
  const manifest = join(project, "package.json");
  const published = readFileSync(manifest, "utf8");
  const changed = published.replace(/"troupe": "[^"]+"/, `"troupe": "file:${troupe}"`);
  expect(changed).not.toBe(published);
  writeFileSync(manifest, changed);
  await run("npm", ["install", "--no-audit", "--no-fund"], project);
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function run(command: string, args: readonly string[], cwd = project): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { cwd, env: environment });
  return stdout;
}

test.for([["lint"], ["types"], ["test"], ["build"]] as const)(
  "npm run %s passes",
  async ([script]) => {
    await expect(run("npm", ["run", script])).resolves.toContain(`my-team@0.1.0 ${script}`);
  },
);

test("a mistake in the team fails its test", async () => {
  const file = join(project, "src/opening-hours.ts");
  const source = readFileSync(file, "utf8");
  writeFileSync(file, source.replace("9:00 to 20:00", "closed"));
  try {
    await expect(run("npm", ["test"])).rejects.toThrow("npm test");
  } finally {
    writeFileSync(file, source);
  }
});

test("npm start answers a first run without a key, and ends with Ctrl-C", async () => {
  const port = await freePort();
  const server = spawn("npm", ["start"], {
    cwd: project,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...environment, PORT: String(port) },
  });
  const printed = text(server.stdout);
  const errors = text(server.stderr);
  try {
    await expect
      .poll(
        () =>
          fetch(`http://127.0.0.1:${port}/healthz`).then(
            ({ ok }) => ok,
            () => false,
          ),
        {
          timeout: 90_000,
        },
      )
      .toBe(true);
    const args = ["troupe", "run", "demo", "When is the museum open?", "--template", "town_guide"];
    environment["TROUPE_URL"] = `http://127.0.0.1:${port}`;
    const said = await run("npx", args);
    expect(said).toContain('guide calls opening_hours({"place":"museum"})\n');
    expect(said).toContain("opening_hours returned 10:00 to 18:00, closed on Mondays\n");
    expect(said).toContain("guide: The museum is open from 10:00 to 18:00, except on Mondays.");
    expect(await run("npx", ["troupe", "logs", "demo"])).toContain(
      "user: When is the museum open?",
    );
  } finally {
    process.kill(-(server.pid ?? 0), "SIGINT");
  }
  expect(await printed).toContain('npx troupe run demo "Hello" --template town_guide');
  expect(await printed).toContain(`http://127.0.0.1:${port} (open it in a browser)`);
  expect(await errors).not.toContain("Error");
});
