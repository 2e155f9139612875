import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";
import { RunningCommand } from "../../cli/support/command.ts";
import { NpmStart, ROOT } from "../../support/npm-start.ts";
import { patternOf, type Snippet } from "../../support/pages.ts";
import { PATIENCE } from "../../support/patience.ts";
import { freePort } from "../../support/ports.ts";
import { findProgram } from "../../support/programs.ts";
import { Project } from "./project.ts";

/** The address that a page names. */
const PAGE_URL = "http://127.0.0.1:8787";

/** What a new project installs from the registry. The package itself comes with what it declares. */
const INSTALLED = [
  "@cloudflare/workers-types",
  "@types/node",
  "@types/react",
  "react",
  "react-dom",
  "typescript",
  "wrangler",
];

export interface ReaderOptions {
  tarball: string;
  /** The name of the project that the page has its readers make. */
  project: string;
  /** Settings of the server. */
  settings: Record<string, string>;
  /** What stands between `<` and `>` in commands. */
  values: Record<string, string>;
}

/**
 * Does what a page says, from a clone to a project beside it: writes its files, runs its commands, and compares what they print. The
 * registry is not asked: `npm install` links the packages of the clone.
 */
export class Reader implements AsyncDisposable {
  readonly folder: string;
  /** Where the server is. */
  readonly url: string;
  /** What the last command has printed, with the server's own address. */
  printed = "";
  readonly #options: ReaderOptions;
  readonly #port: number;
  #server: NpmStart | undefined;
  /** True while a file was written that the server has not built. */
  #stale = false;

  private constructor(folder: string, port: number, options: ReaderOptions) {
    this.folder = folder;
    this.url = `http://127.0.0.1:${port}`;
    this.#port = port;
    this.#options = options;
  }

  static async start(options: ReaderOptions): Promise<Reader> {
    const folder = await mkdtemp(join(tmpdir(), "troupe-reader-"));
    const reader = new Reader(folder, await freePort(), options);
    await mkdir(join(folder, "bin"));
    await mkdir(join(folder, "troupe"));
    const packages = await Project.linked(options.tarball, INSTALLED);
    const modules = join(packages.folder, "node_modules");
    await rename(modules, join(folder, "node_modules"));
    await packages[Symbol.asyncDispose]();
    await mkdir(join(folder, "node_modules/.bin"));
    await chmod(join(folder, "node_modules/troupe/lib/cli/bin.js"), 0o755);
    await symlink("../troupe/lib/cli/bin.js", join(folder, "node_modules/.bin/troupe"));
    await reader.#program(
      "npm",
      `case $1 in
pack) exec cp '${options.tarball}' . ;;
install) for file; do case $file in *.tgz) [ -e "$file" ] || exit 1 ;; esac; done
  [ -e node_modules ] || exec mv '${folder}/node_modules' . ;;
*) exec '${findProgram("npm")}' "$@" ;;
esac`,
    );
    await reader.#program(
      "npx",
      `[ "$1" = --yes ] && shift
case $1 in
*.tgz) [ -e "$1" ] && shift && exec '${folder}/node_modules/.bin/troupe' "$@" ;;
*) exec "$@" ;;
esac`,
    );
    await reader.#program("curl", `exec '${findProgram("curl")}' --silent --show-error "$@"`);
    return reader;
  }

  /** Does what a section of a page says. */
  async follow(section: readonly Snippet[]): Promise<void> {
    for (const [index, { language, info, code }] of section.entries()) {
      const next = section[index + 1];
      const shown = next?.language === "text" ? next.code : undefined;
      if (info === "server") await this.#serve(code);
      else if (info === "terminal") await this.#type(code, shown ?? "");
      else if (code.startsWith("npx troupe logs")) await this.#look(code, shown ?? "");
      else if (language === "sh")
        await this.#run(code, shown, info === "clone" ? "troupe" : undefined);
      else if (language !== "text") await this.#write(info, code);
      if (shown !== undefined) this.#compare(shown);
    }
  }

  /** A file of the project. */
  file(path: string): string {
    return join(this.folder, this.#options.project, path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true, force: true });
  }

  get #environment(): Record<string, string> {
    const path = [
      join(this.folder, "bin"),
      this.file("node_modules/.bin"),
      join(ROOT, "node_modules/.bin"),
      process.env["PATH"],
    ];
    return {
      PATH: path.join(delimiter),
      HOME: this.folder,
      NO_COLOR: "1",
      TROUPE_URL: this.url,
      WRANGLER_SEND_METRICS: "false",
    };
  }

  /** Stands in for a program of the machine. */
  async #program(name: string, script: string): Promise<void> {
    const path = join(this.folder, "bin", name);
    await writeFile(path, `#!/bin/sh\n${script}\n`);
    await chmod(path, 0o755);
  }

  /** Starts the server again, with the arguments behind `--`. */
  async #serve(code: string): Promise<void> {
    const [, args = ""] = /^npm start(?: -- (.*))?$/.exec(code.trim()) ?? expect.fail(code);
    await this.#server?.interrupt();
    this.#stale = false;
    this.#server = await NpmStart.ready({
      port: this.#port,
      persistTo: this.file(".troupe/state"),
      cwd: this.file("."),
      args: args.split(" ").filter((one) => one !== ""),
      sandbox: true, // A project has none: this only names none.
      settings: { ...this.#environment, ...this.#options.settings },
    });
    this.printed = this.#server.output;
  }

  async #run(code: string, shown = "", folder = this.#options.project): Promise<void> {
    await this.#built();
    const filled = Object.entries(this.#options.values).reduce(
      (text, [name, value]) => text.replaceAll(`<${name}>`, value),
      code.replaceAll(PAGE_URL.slice("http://".length), `127.0.0.1:${this.#port}`),
    );
    expect(filled).not.toMatch(/<\w+>/);
    const { stdout, failed } = await promisify(execFile)("sh", ["-ec", `exec 2>&1\n${filled}`], {
      cwd: join(this.folder, folder),
      env: this.#environment,
    }).then(
      (output) => ({ ...output, failed: false }),
      (error: { stdout: string }) => ({ ...error, failed: true }),
    );
    this.printed = stdout;
    expect(failed, stdout).toBe(/^error: /m.test(shown));
  }

  /** Looks until what the page shows has happened. */
  async #look(code: string, shown: string): Promise<void> {
    const look = async (): Promise<string> => {
      await this.#run(code);
      return this.#printedForPage();
    };
    await expect.poll(look, PATIENCE).toMatch(patternOfAll(shown));
  }

  /** Runs a command that asks, and types the answer that the page shows. */
  async #type(code: string, shown: string): Promise<void> {
    await this.#built();
    const [, ...args] = code.trim().split(" ").slice(1);
    const [, answer = ""] = /^Approve\? \(.*\) (\w+)$/m.exec(shown) ?? [];
    const command = new RunningCommand(args, {
      program: this.file("node_modules/troupe/lib/cli/bin.js"),
      cwd: this.file("."),
      env: this.#environment,
      terminal: true,
    });
    await command.until(/Approve\? \(.*\) $/);
    command.type(`${answer}\r`);
    const { stdout, code: exitCode } = await command.end();
    this.printed = stdout;
    expect(exitCode, stdout).toBe(0);
  }

  /** Resolves once the server has built what was written. */
  async #built(): Promise<void> {
    if (!this.#stale) return;
    await this.#server?.until(/Local server updated and ready/);
    this.#stale = false;
  }

  /** Writes a file; of TOML only the section. */
  async #write(path: string, code: string): Promise<void> {
    const file = this.file(path);
    await mkdir(dirname(file), { recursive: true });
    const text = path.endsWith(".toml") ? await withSection(file, code) : code;
    if (/^src\/|\.toml$/.test(path)) {
      this.#stale = true;
      if (this.#server) this.#server.output = "";
    }
    // In one step, so that the server builds it once.
    await writeFile(`${file}.new`, text);
    await rename(`${file}.new`, file);
  }

  /** Compares what was printed with what the page shows. */
  #compare(shown: string): void {
    expect(this.#printedForPage()).toMatch(patternOfAll(shown));
  }

  /** What was printed, as if the server had the page's address. */
  #printedForPage(): string {
    return `${this.printed.replaceAll(this.url, PAGE_URL).trim()}\n`;
  }
}

/** Matches whole lines, and any number of them where there are only dots. */
function patternOfAll(shown: string): RegExp {
  const lines = shown.trimEnd().split("\n");
  const patterns = lines.map((line) =>
    line === "..." ? "(?:.*\n)*" : `${patternOf(line).source}\n`,
  );
  return new RegExp(`^${patterns.join("")}$`);
}

/** The text of a TOML file with another section in the place of that of the same name. */
async function withSection(file: string, section: string): Promise<string> {
  const before = await readFile(file, "utf8");
  const [name = ""] = section.split("\n", 1);
  const start = before.indexOf(`\n${name}\n`) + 1;
  expect(start).toBeGreaterThan(0);
  const end = before.indexOf("\n\n", start) + 1;
  return before.slice(0, start) + section + before.slice(end);
}
