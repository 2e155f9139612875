import { execFile } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { wheel } from "../../sandbox/test/support/wheel.ts";

/** A Python that each user can start: as root, code runs as other users, who have no way into a home. */
const PYTHON = ["/usr/bin/python3", "/usr/local/bin/python3"].find(existsSync) ?? "python3";

/** A virtual environment in a folder of its own, beside a folder with the wheels of packages that a test makes. */
export class PythonEnvironment implements AsyncDisposable {
  /** The folder around the environment, which all users may read. */
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** @param options options of `python -m venv` */
  static async make(options: readonly string[] = []): Promise<PythonEnvironment> {
    const folder = await mkdtemp(join(tmpdir(), "python-"));
    await chmod(folder, 0o755);
    await promisify(execFile)(PYTHON, ["-m", "venv", ...options, join(folder, ".venv")]);
    return new PythonEnvironment(folder);
  }

  /** The path of the environment. */
  get path(): string {
    return join(this.folder, ".venv");
  }

  /** Its interpreter. */
  get program(): string {
    return join(this.path, "bin/python");
  }

  /** Writes a module that the environment can import. */
  async addModule(name: string, source: string): Promise<void> {
    const [packages = ""] = globSync("lib/python3*/site-packages", { cwd: this.path });
    await writeFile(join(this.path, packages, `${name}.py`), source);
  }

  /** Writes a wheel with one module. @returns its path */
  async addWheel(name: string, module: string, source: string): Promise<string> {
    const path = join(this.folder, `${name.replaceAll("-", "_")}-1.0-py3-none-any.whl`);
    await writeFile(
      path,
      wheel(name.replaceAll("-", "_"), "1.0", { [`${module}/__init__.py`]: source }),
    );
    return path;
  }

  /** Settings by which pip finds these wheels and asks no server. */
  get pip(): Record<string, string> {
    return { PIP_NO_INDEX: "1", PIP_FIND_LINKS: this.folder, PIP_CONFIG_FILE: "/dev/null" };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
