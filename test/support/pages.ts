import { execFile } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "./npm-start.ts";

/** The examples that have a README. */
const EXAMPLES = readdirSync(join(ROOT, "examples")).filter((name) =>
  existsSync(join(ROOT, "examples", name, "README.md")),
);

export const PAGES = [
  "README.md",
  "docs/README.md",
  "docs/a2a.md",
  "docs/ag-ui.md",
  "docs/ai-sdk.md",
  "docs/assistant-agent.md",
  "docs/bring-your-team.md",
  "docs/changing-teams.md",
  "docs/client-tools.md",
  "docs/concepts.md",
  "docs/console.md",
  "docs/models.md",
  "docs/evals.md",
  "docs/testing.md",
  "docs/troubleshooting.md",
  "docs/versions.md",
  "docs/web-page.md",
  "docs/http-tool.md",
  "docs/performance.md",
  "bench/results.md",
  "ARCHITECTURE.md",
  "docs/design/console.md",
  "docs/design/platform.md",
  "docs/design/sandbox.md",
  "docs/design/package.md",
  "docs/design/protocols.md",
  "docs/design/cold-start.md",
  "docs/design/models.md",
  "docs/design/own-code.md",
  "docs/http-api.md",
  "docs/configuration.md",
  "docs/cli.md",
  "docs/client.md",
  "docs/react.md",
  "docs/code-execution.md",
  "docs/cost.md",
  "docs/custom-agents.md",
  "docs/deploying.md",
  "docs/keys.md",
  "docs/tenants.md",
  "docs/memory.md",
  "docs/observability.md",
  "docs/mcp.md",
  "docs/mcp-clients.md",
  "docs/openai.md",
  "docs/python.md",
  "docs/web-search.md",
  "docs/own-worker.md",
  "docs/approval.md",
  "docs/python-tools.md",
  "docs/schedules.md",
  "docs/sandbox.md",
  "docs/skills.md",
  "docs/task-board.md",
  "docs/team-versions.md",
  "docs/triggers.md",
  "docs/webhooks.md",
  "docs/custom-teams.md",
  "docs/differences-from-autogen.md",
  "docs/moving-from-autogen.md",
  "docs/design/engine.md",
  "examples/README.md",
  ...EXAMPLES.map((name) => `examples/${name}/README.md`),
  ...readdirSync(join(ROOT, "docs/contributing")).map((page) => `docs/contributing/${page}`),
  ...readdirSync(join(ROOT, "docs/teams")).map((page) => `docs/teams/${page}`),
];

export interface Snippet {
  page: string;
  /** The heading it stands under. */
  heading: string;
  language: string;
  /** What follows the language: `run`, or the path of the file it is. */
  info: string;
  code: string;
}

export function read(page: string): string {
  return readFileSync(join(ROOT, page), "utf8");
}

/** The snippets of a page in their order. */
export function snippetsOf(page: string): Snippet[] {
  const text = read(page);
  return [...text.matchAll(/^```(\w+) ?(\S*)\n([\s\S]*?)^```$/gm)].map((match) => {
    const [, language = "", info = "", code = ""] = match;
    // A snippet may have lines that look like headings.
    const before = text.slice(0, match.index).replaceAll(/^```\w[\s\S]*?^```$/gm, "");
    const headings = [...before.matchAll(/^#+ (.*)$/gm)];
    return { page, heading: headings.at(-1)?.[1] ?? "", language, info, code };
  });
}

export const snippets = PAGES.flatMap(snippetsOf);

/** The text of the only snippet there, or of one of several. */
export function snippet(heading: string, language: string, index = 0, page?: string): string {
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

/** A line of a page in which dots stand for what was left out. */
export function patternOf(line: string): RegExp {
  const parts = line.split("...").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(parts.join(".*"));
}

export function file(path: string): string {
  const found = snippets.find(({ info }) => info === path);
  if (found === undefined) throw new Error(`no page has the file ${path}`);
  return found.code;
}

/** Has the packages of other makers that the pages have their readers install. */
const PEERS = join(ROOT, "test/peers");
const { dependencies } = JSON.parse(readFileSync(join(PEERS, "package.json"), "utf8")) as {
  dependencies: Record<string, string>;
};

/**
 * Where the files of pages are tried: below the repository, so that "troupe" is found as by those who follow the pages, and with
 * the clients of other makers.
 */
export class Workplace implements Disposable {
  readonly folder: string;

  constructor() {
    mkdirSync(join(ROOT, ".troupe"), { recursive: true });
    this.folder = mkdtempSync(join(ROOT, ".troupe/docs-"));
    for (const name of Object.keys(dependencies)) {
      const link = join(this.folder, "node_modules", name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(PEERS, "node_modules", name), link);
    }
  }

  /** Returns the file's path. */
  write(path: string, text: string): string {
    const target = join(this.folder, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
    return target;
  }

  execute(
    command: string,
    args: string[],
  ): Promise<{ failed: boolean; stdout: string; stderr: string }> {
    return promisify(execFile)(command, args, { cwd: this.folder, maxBuffer: 10_000_000 }).then(
      (output) => ({ ...output, failed: false }),
      (error: { stdout: string; stderr: string }) => ({ ...error, failed: true }),
    );
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
