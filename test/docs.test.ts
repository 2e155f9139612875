import { execFile } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Catalog } from "../src/core/component/catalog.ts";
import { coreComponents } from "../src/core/component/core-components.ts";
import { ComponentRegistry } from "../src/core/component/registry.ts";
import { toText } from "../src/core/messages/views.ts";
import type { RunInfo } from "../src/core/run/gateway.ts";
import { run as runTeam } from "../src/core/run/run.ts";
import type { Team } from "../src/core/teams/team.ts";
import { DEFAULT_LIMITS } from "../src/http/limits.ts";
import { startFakeOpenAI } from "./support/fake-openai/server.ts";
import { jsonInit } from "./support/http-app.ts";
import { freePort, NpmStart, ROOT } from "./support/npm-start.ts";

const PAGES = [
  "README.md",
  "docs/http-api.md",
  "docs/configuration.md",
  "docs/code-execution.md",
  "docs/custom-agents.md",
  "docs/memory.md",
  "docs/approval.md",
  "docs/python-tools.md",
  "docs/sandbox.md",
  "docs/custom-teams.md",
  "docs/differences-from-autogen.md",
  "docs/moving-from-autogen.md",
  "docs/design/engine.md",
  ...readdirSync(join(ROOT, "docs/teams")).map((page) => `docs/teams/${page}`),
];

interface Snippet {
  page: string;
  /** The heading it stands under. */
  heading: string;
  language: string;
  /** What follows the language: `run`, or the path of the file it is. */
  info: string;
  code: string;
}

function read(page: string): string {
  return readFileSync(join(ROOT, page), "utf8");
}

function snippetsOf(page: string): Snippet[] {
  const text = read(page);
  return [...text.matchAll(/^```(\w+) ?(\S*)\n([\s\S]*?)^```$/gm)].map((match) => {
    const [, language = "", info = "", code = ""] = match;
    const headings = [...text.slice(0, match.index).matchAll(/^#+ (.*)$/gm)];
    return { page, heading: headings.at(-1)?.[1] ?? "", language, info, code };
  });
}

const snippets = PAGES.flatMap(snippetsOf);

/** The text of the only snippet there, or of one of several. */
function snippet(heading: string, language: string, index = 0, page?: string): string {
  const found = snippets.filter(
    (one) =>
      one.heading === heading &&
      one.language === language &&
      (page === undefined || one.page === page),
  );
  const code = found[index]?.code;
  if (code === undefined) throw new Error(`there is no ${language} snippet under "${heading}"`);
  return code;
}

function file(path: string): string {
  const found = snippets.find(({ info }) => info === path);
  if (found === undefined) throw new Error(`no page has the file ${path}`);
  return found.code;
}

/** Below the repository, so that "troupe" is found as by those who follow the pages. */
let folder: string;

beforeAll(() => {
  mkdirSync(join(ROOT, ".troupe"), { recursive: true });
  folder = mkdtempSync(join(ROOT, ".troupe/docs-"));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string, text: string): string {
  const target = join(folder, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
  return target;
}

function execute(
  command: string,
  args: string[],
): Promise<{ failed: boolean; stdout: string; stderr: string }> {
  return promisify(execFile)(command, args, { cwd: folder, maxBuffer: 10_000_000 }).then(
    (output) => ({ ...output, failed: false }),
    (error: { stdout: string; stderr: string }) => ({ ...error, failed: true }),
  );
}

const bin = (name: string): string => join(ROOT, "node_modules/.bin", name);

describe("the TypeScript of the pages", () => {
  const typescript = snippets.filter(({ language }) => language === "ts");

  test.each([
    { where: "Node", types: "node", chosen: (info: string) => !info.includes("/") },
    {
      where: "Workers",
      types: "@cloudflare/workers-types",
      chosen: (info: string) => info.includes("/"),
    },
  ])(
    "compiles for $where",
    async ({ where, types, chosen }) => {
      const files = typescript.filter(({ info }) => chosen(info));
      expect(files.length).toBeGreaterThan(0);
      for (const [index, { page, info, code }] of files.entries()) {
        const name = info.includes("/") ? info : `${index}-${page.replaceAll("/", "-")}.ts`;
        write(`types-${where}/${name}`, code);
      }
      const config = {
        extends: join(ROOT, "tsconfig.base.json"),
        compilerOptions: {
          lib: ["ES2023", "ESNext.Disposable"],
          types: [types],
          typeRoots: [join(ROOT, "node_modules"), join(ROOT, "node_modules/@types")],
        },
        include: ["**/*.ts"],
      };
      const project = write(`types-${where}/tsconfig.json`, JSON.stringify(config));
      const { stdout } = await execute(bin("tsc"), ["-p", project]);
      expect(stdout).toBe("");
    },
    60_000,
  );

  test.each(typescript.filter(({ info }) => info === "run"))(
    "of $page under $heading runs and prints what the page says",
    async ({ heading, page, code }) => {
      const program = write(`run-${page.replaceAll("/", "-")}.ts`, code);
      const { stdout, stderr } = await execute(bin("node"), [program]);
      expect(stdout, stderr).toContain(snippet(heading, "text", 0, page));
    },
    30_000,
  );
});

describe("the component JSON of the pages", () => {
  const components = new ComponentRegistry().register(...coreComponents(new Catalog()));

  test.each(snippets.filter(({ info }) => info === "component"))(
    "of $page does what the code does",
    async ({ page, code }) => {
      const team = components.load<Team>(JSON.parse(code), "team");
      const task = /task: "(.*)"/.exec(snippet("In code", "ts", 0, page))?.[1] ?? null;
      const { messages, stop_reason } = await runTeam(team, { task });
      const lines = messages.map((message) => `${message.source}: ${toText(message)}\n`);
      expect(`${lines.join("")}(${stop_reason})\n`).toBe(snippet("In code", "text", 0, page));
    },
  );
});

describe("the commands of the README", () => {
  let port: number;
  let persistTo: string;

  beforeAll(async () => {
    port = await freePort();
    persistTo = mkdtempSync(join(tmpdir(), "troupe-docs-"));
  });

  afterAll(() => rmSync(persistTo, { recursive: true, force: true }));

  /** Runs a snippet of the README as it stands there, but for the port and what is to be filled in. */
  async function shell(
    heading: string,
    index = 0,
    values: Record<string, string> = {},
  ): Promise<string> {
    const filled = Object.entries(values).reduce(
      (code, [name, value]) => code.replaceAll(`<${name}>`, value),
      snippet(heading, "sh", index).replaceAll("127.0.0.1:8787", `127.0.0.1:${port}`),
    );
    expect(filled).not.toMatch(/<\w+>/);
    const { stdout } = await execute("bash", ["-c", filled]);
    return stdout;
  }

  test("do what it says", async () => {
    await using openai = await startFakeOpenAI({
      rules: [{ name: "rhyme", match: {}, reply: { content: "A rhyme in time." } }],
    });
    const settings = { OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: openai.url };
    const first = await NpmStart.ready({ port, persistTo, settings, sandbox: true });

    const watch = "Create a team and watch a run";
    const watched = await shell(watch);
    for (const line of snippet(watch, "text").split("\n")) {
      expect(watched).toMatch(patternOf(line));
    }

    expect(lastText(lastJson<RunInfo>(await shell("Code over HTTP")))).toBe("5050\n");

    const wait = "Answer a run that waits for you";
    const waiting = lastJson<RunInfo>(await shell(wait));
    expect(waiting.status).toBe("waiting");
    const trip = { run: waiting.id, request: waiting.requests[0]?.id ?? "" };
    expect(lastJson<RunInfo>(await shell(wait, 1, trip)).id).toBe(trip.run);
    const rest = await shell(wait, 2, trip);
    expect(rest).toContain('"content":"Later in the day, please."');
    expect(rest).not.toMatch(/^id: 3$/m);
    expect(lastJson<RunInfo>(rest).status).toBe("cancelled");

    const kill = "Kill it";
    const killed = lastJson<RunInfo>(await shell(kill, 0, { pid: first.pid }));
    expect(killed.status).toBe("running");
    await first.exit();
    await using second = await NpmStart.ready({ port, persistTo, settings, sandbox: true });
    const ended = await shell(kill, 1, { run: killed.id });
    expect(ended).toContain('"status":"completed"');
    expect(ended.trimEnd().split("\n").at(-1)).toContain('"type":"TaskResult"');

    write("team.json", file("team.json"));
    const poets = lastJson<{ id: string }>(await shell("Bring a team from AutoGen"));
    expect(poets.id).toBe("poets");
    expect(await answerOf(second, "poets")).toBe("A rhyme in time.");
  }, 120_000);

  test("start a Worker of one's own", async () => {
    await using openai = await startFakeOpenAI({
      rules: [
        {
          name: "look",
          match: { role: "user" },
          reply: { tool_calls: [{ name: "opening_hours", arguments: { place: "Museum" } }] },
        },
        { name: "say", match: { role: "tool" }, reply: { content: "Until six. Do come in." } },
      ],
    });
    const paths = ["my-team/worker.ts", "my-team/shortener.ts", "my-team/wrangler.toml"];
    for (const path of paths) write(path, file(path));
    expect(read("README.md")).toContain("npm start -- --config my-team/wrangler.toml");
    await using server = await NpmStart.ready({
      port,
      persistTo,
      args: ["--config", join(folder, "my-team/wrangler.toml")],
      settings: { OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: openai.url },
    });
    await fetch(`${server.url}/v1/teams`, jsonInit({ id: "town", template: "town_guide" }));
    expect(await answerOf(server, "town")).toBe("Until six");
    expect(JSON.stringify(openai.requests.at(-1)?.body)).toContain("Museum: 10:00 to 18:00");
  }, 120_000);
});

/** A line of a page in which dots stand for what was left out. */
function patternOf(line: string): RegExp {
  const parts = line.split("...").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(parts.join(".*"));
}

/** What a team answers in the end. */
async function answerOf({ url }: NpmStart, team: string): Promise<unknown> {
  const response = await fetch(
    `${url}/v1/teams/${team}/runs?wait=30`,
    jsonInit({ task: "Hello." }),
  );
  const run = (await response.json()) as RunInfo;
  expect(run).toMatchObject({ status: "completed", error: null });
  return lastText(run);
}

function lastText({ result }: RunInfo): unknown {
  const last = result?.messages.at(-1);
  return last && "content" in last ? last.content : undefined;
}

/** The last of several answers, which stand one behind the other without line breaks. */
function lastJson<T>(output: string): T {
  for (const { index } of output.matchAll(/\{"id":/g)) {
    try {
      return JSON.parse(output.slice(index)) as T;
    } catch {
      // Not the last one, or inside of it.
    }
  }
  throw new Error(`there is no JSON at the end of ${output}`);
}

describe("the pages", () => {
  test("name every limit with its default", () => {
    for (const [name, value] of Object.entries(DEFAULT_LIMITS)) {
      expect(read("docs/configuration.md")).toContain(`| \`${name.toUpperCase()}\` | ${value} |`);
    }
  });

  test("link only to what is there", () => {
    for (const page of PAGES) {
      for (const [, target = ""] of read(page).matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)) {
        expect(() => statSync(join(ROOT, dirname(page), target)), target).not.toThrow();
      }
    }
  });
});
