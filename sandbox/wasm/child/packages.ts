import { readFileSync } from "node:fs";
import type { PyodideAPI } from "pyodide";
import type { WorkspaceChange } from "../../runner.ts";
import type { PackagePlan } from "../wheels/plan.ts";
import type { EmscriptenFS } from "./emscripten.ts";

const MODULE = "_packages";
const WHEEL = "/tmp/package.whl";

/** The part of a plan for the snapshot. */
export type SnapshotPlan = Pick<PackagePlan, "wheels" | "snapshotImports">;

/** The result of an installation. */
export interface Installed {
  /** Hashes of the wheels that were installed. */
  installed: string[];
  failures: string[];
}

/** The packages of an interpreter that is not closed yet. */
export class Packages {
  readonly #pyodide: PyodideAPI;
  readonly #fs: EmscriptenFS;
  readonly #site: string;

  constructor(pyodide: PyodideAPI) {
    this.#pyodide = pyodide;
    this.#fs = pyodide.FS;
    const source = readFileSync(new URL("packages.py", import.meta.url), "utf8");
    pyodide.runPython(
      `import sys, types
module = types.ModuleType("${MODULE}")
exec(compile(${JSON.stringify(source)}, "<packages>", "exec"), module.__dict__)
sys.modules["${MODULE}"] = module
del module`,
    );
    this.#site = this.#call("_SITE");
  }

  /** Unpacks wheels and imports modules. A wheel that cannot be read is left out. */
  install({ wheels, snapshotImports }: SnapshotPlan): Installed {
    const result: Installed = { installed: [], failures: [] };
    for (const { file, name, sha256 } of wheels) {
      try {
        this.#fs.writeFile(WHEEL, readFileSync(file));
        this.#call(`install(${JSON.stringify(WHEEL)})`);
        result.installed.push(sha256);
      } catch (error) {
        const why = (error as Error).message.trim().split("\n").at(-1) ?? "";
        result.failures.push(`${name} is left out: ${why}`);
      }
    }
    if (wheels.length > 0) this.#fs.unlink(WHEEL);
    result.failures.push(...this.#imported(snapshotImports));
    return result;
  }

  /** All files of the packages. */
  files(): WorkspaceChange {
    const paths = JSON.parse(this.#call("installed()")) as string[];
    const set = paths.map((path) => ({
      path,
      type: "file" as const,
      mode: 0o644,
      content: this.#fs.readFile(`${this.#site}/${path}`),
    }));
    return { set, removed: [] };
  }

  /** Restores the files that go with a snapshot, and imports modules with machine code. @returns what went wrong */
  restore({ set }: WorkspaceChange, imports: readonly string[]): string[] {
    for (const entry of set) {
      if (entry.type !== "file") continue;
      const path = `${this.#site}/${entry.path}`;
      this.#fs.mkdirTree(path.slice(0, path.lastIndexOf("/")));
      this.#fs.writeFile(path, entry.content, { canOwn: true });
    }
    const failures = this.#imported(imports);
    if (set.some(({ path }) => path.endsWith(".so"))) this.#call("machine_code()");
    return failures;
  }

  /** Removes what code must not see. */
  close(): void {
    this.#pyodide.runPython(`import sys\ndel sys.modules["${MODULE}"]`);
  }

  #imported(names: readonly string[]): string[] {
    return JSON.parse(this.#call(`imported(${JSON.stringify(JSON.stringify(names))})`)) as string[];
  }

  #call(expression: string): string {
    return String(this.#pyodide.runPython(`import ${MODULE}\n${MODULE}.${expression}`));
  }
}
