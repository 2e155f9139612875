import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import {
  a2aComponents,
  Catalog,
  ComponentRegistry,
  coreComponents,
  dumpComponent,
  mcpComponents,
  openAIComponents,
  run as runTeam,
  toText,
} from "troupe";
import type {
  A2AAgent,
  ChatCompletionClient,
  McpWorkbench,
  OpenAIAgent,
  Team,
  WorkersAIBinding,
} from "troupe";
import { DEFAULT_LIMITS } from "#api/http/endpoint/limits.ts";
import { ROOT } from "./support/npm-start.ts";
import { PAGES, read, snippet, snippets, Workplace } from "./support/pages.ts";

const place = new Workplace();
afterAll(() => place[Symbol.dispose]());

const bin = (name: string): string => join(ROOT, "node_modules/.bin", name);

/** Where a snippet runs: files in folders are parts of Workers, except scripts of pages. */
function placeOf(info: string): "Node" | "Workers" | "browsers" {
  if (/page\.tsx?$/.test(info)) return "browsers";
  return info.includes("/") ? "Workers" : "Node";
}

/** What the sources of Troupe need of the language's library. */
const LIBRARY = ["ES2023", "ES2024.String"];

describe("the TypeScript of the pages", () => {
  const typescript = snippets.filter(({ language }) => language === "ts" || language === "tsx");

  test.each([
    { where: "Node", types: ["node"] },
    { where: "Workers", types: ["@cloudflare/workers-types"] },
    { where: "browsers", types: [], lib: [...LIBRARY, "DOM", "DOM.Iterable", "DOM.AsyncIterable"] },
  ])("compiles for $where", async ({ where, types, lib = [...LIBRARY, "ESNext.Disposable"] }) => {
    const files = typescript.filter(({ info }) => placeOf(info) === where);
    expect(files.length).toBeGreaterThan(0);
    for (const [index, { page, info, code }] of files.entries()) {
      const name = info.includes("/") ? info : `${index}-${page.replaceAll("/", "-")}.ts`;
      place.write(`types-${where}/${name}`, code);
    }
    const config = {
      extends: join(ROOT, "tsconfig.base.json"),
      compilerOptions: {
        lib,
        types,
        jsx: "react-jsx",
        // A snippet may end where its reader continues.
        noUnusedLocals: false,
        typeRoots: [join(ROOT, "node_modules"), join(ROOT, "node_modules/@types")],
      },
      include: ["**/*.ts", "**/*.tsx"],
    };
    const project = place.write(`types-${where}/tsconfig.json`, JSON.stringify(config));
    const { stdout } = await place.execute(bin("tsc"), ["-p", project]);
    expect(stdout).toBe("");
  });

  test.each(typescript.filter(({ info }) => info === "run"))(
    "runs under $heading of $page and prints the output on the page",
    async ({ heading, page, code }) => {
      const program = place.write(`run-${page.replaceAll("/", "-")}.ts`, code);
      const { stdout, stderr } = await place.execute(bin("node"), [program]);
      expect(stdout, stderr).toContain(snippet(heading, "text", 0, page));
    },
  );
});

test.each(snippets.filter(({ info }) => info.endsWith(".test.ts")))(
  "the test of $page passes",
  async ({ info, code }) => {
    const { failed, stdout } = await place.execute(bin("node"), [
      "--test",
      place.write(info, code),
    ]);
    expect(failed, stdout).toBe(false);
  },
);

const hasPython = spawnSync("python3", ["--version"]).status === 0;

test.skipIf(!hasPython).each(snippets.filter(({ language }) => language === "python"))(
  "the Python under $heading of $page compiles",
  async ({ page, code }) => {
    const program = place.write(`${page.replaceAll("/", "-")}.py`, code);
    const { failed, stderr } = await place.execute("python3", ["-m", "py_compile", program]);
    expect(failed, stderr).toBe(false);
  },
);

describe("the component JSON of the pages", () => {
  const components = new ComponentRegistry().register(...coreComponents(new Catalog()));

  test.each(snippets.filter(({ info }) => info === "component"))(
    "has the effect of the code on $page",
    async ({ page, code }) => {
      const team = components.load<Team>(JSON.parse(code), "team");
      const task = /task: "(.*)"/.exec(snippet("In code", "ts", 0, page))?.[1] ?? null;
      const { messages, stop_reason } = await runTeam(team, { task });
      const lines = messages.map((message) => `${message.source}: ${toText(message)}\n`);
      expect(`${lines.join("")}(${stop_reason})\n`).toBe(snippet("In code", "text", 0, page));
    },
  );
});

test.each(snippets.filter(({ info }) => info === "workbench"))(
  "the workbench of $page is a component",
  ({ code }) => {
    const registry = new ComponentRegistry().register(
      ...mcpComponents({ sandbox: { url: "http://127.0.0.1:8788" } }),
    );
    const workbench = registry.load<McpWorkbench>(JSON.parse(code), "workbench");
    expect(dumpComponent(workbench)).toMatchObject(JSON.parse(code) as object);
  },
);

test("the remote agent of docs/a2a.md is a component", () => {
  const registry = new ComponentRegistry().register(...a2aComponents());
  const found = snippets.find(({ info }) => info === "a2a-agent");
  const agent = registry.load<A2AAgent>(JSON.parse(found?.code ?? ""), "agent");
  expect(dumpComponent(agent)).toMatchObject(JSON.parse(found?.code ?? "") as object);
});

describe("the model clients of docs/models.md", () => {
  const registry = new ComponentRegistry().register(
    ...openAIComponents({ ai: {} as WorkersAIBinding }),
  );
  const clients = snippets.filter(({ info }) => info === "maker").map(({ code }) => code);

  test("exist for every maker", () => expect(clients.length).toBeGreaterThan(10));

  test.each(clients)("%s", (code) => {
    const client = registry.load<ChatCompletionClient>(JSON.parse(code), "model");
    expect(dumpComponent(client)).toMatchObject(JSON.parse(code) as object);
    expect(client.modelInfo.functionCalling).toBe(true);
    expect(registry.notes(JSON.parse(code))).toEqual([]);
  });
});

test("the agent of docs/models.md is a component", () => {
  const registry = new ComponentRegistry().register(...openAIComponents());
  const found = snippets.find(({ info }) => info === "openai-agent");
  const agent = registry.load<OpenAIAgent>(JSON.parse(found?.code ?? ""), "agent");
  expect(agent.toConfig()).toMatchObject({ model: "gpt-5.6", tools: [{ type: "web_search" }, {}] });
});

describe("the pages", () => {
  test("name every limit with its default", () => {
    for (const [name, value] of Object.entries(DEFAULT_LIMITS)) {
      expect(read("docs/configuration.md")).toContain(`| \`${name.toUpperCase()}\` | ${value} |`);
    }
  });

  test("link only to existing targets", () => {
    for (const page of PAGES) {
      for (const [, target = ""] of read(page).matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)) {
        expect(() => statSync(join(ROOT, dirname(page), target)), target).not.toThrow();
      }
    }
  });
});
