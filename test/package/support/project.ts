import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../support/npm-start.ts";

const execute = promisify(execFile);

/** A user's project outside of the clone, with the package installed. */
export class Project implements AsyncDisposable {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async empty(): Promise<Project> {
    const project = new Project(await mkdtemp(join(tmpdir(), "troupe-project-")));
    const manifest = { name: "project", private: true, type: "module" };
    await project.write("package.json", JSON.stringify(manifest));
    return project;
  }

  /**
   * With the package unpacked, and its dependencies and these packages linked from the clone: what the package does not
   * declare is not there.
   */
  static async linked(tarball: string, packages: readonly string[] = []): Promise<Project> {
    const project = await Project.empty();
    const own = join(project.folder, "node_modules/troupe");
    await mkdir(own, { recursive: true });
    await execute("tar", ["-xzf", tarball, "--strip-components=1", "-C", own]);
    const { dependencies } = JSON.parse(await readFile(join(own, "package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    for (const name of new Set([...Object.keys(dependencies), ...packages])) {
      const link = join(project.folder, "node_modules", name);
      await mkdir(dirname(link), { recursive: true });
      await symlink(join(ROOT, "node_modules", name), link);
    }
    return project;
  }

  /** As `npm install` does it. */
  static async installed(...packages: readonly string[]): Promise<Project> {
    const project = await Project.empty();
    const options = ["--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
    await project.run("npm", ["install", ...options, ...packages]);
    return project;
  }

  /** Copies files of this folder's sibling `projects` or `worker` into the project. */
  async copy(...files: string[]): Promise<void> {
    for (const file of files) {
      const name = file.slice(file.lastIndexOf("/") + 1);
      await cp(join(import.meta.dirname, "..", file), join(this.folder, name));
    }
  }

  async write(path: string, text: string): Promise<void> {
    await writeFile(join(this.folder, path), text);
  }

  /** Runs a program of the project, or else of the clone or the machine. @returns its output @throws with its output */
  async run(program: string, args: readonly string[]): Promise<string> {
    const path = ["node_modules/.bin", join(ROOT, "node_modules/.bin"), process.env.PATH];
    try {
      const { stdout } = await execute(program, args, {
        cwd: this.folder,
        maxBuffer: 10_000_000,
        env: {
          ...process.env,
          PATH: path.join(":"),
          WRANGLER_SEND_METRICS: "false",
          WRANGLER_HIDE_BANNER: "true",
        },
      });
      return stdout;
    } catch (error) {
      const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
      throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: error });
    }
  }

  /** Compiles files as strictly as the compiler can. @returns its complaints about them and about the package */
  async complaints(files: readonly string[], options: CompilerOptions): Promise<string[]> {
    const lines = await this.allComplaints(files, options);
    return lines.some(isOfDependency) ? lines.filter((line) => !isOfDependency(line)) : lines;
  }

  /** Those about the declarations of other packages included. */
  async allComplaints(files: readonly string[], options: CompilerOptions): Promise<string[]> {
    const config = {
      compilerOptions: {
        ...STRICT,
        ...(options.resolution === "nodenext"
          ? { module: "nodenext" }
          : { module: "esnext", moduleResolution: "bundler" }),
        lib: options.lib ?? ["ES2023"],
        types: options.types,
      },
      files,
    };
    await this.write("tsconfig.json", JSON.stringify(config));
    try {
      await this.run(options.compiler ?? "tsc", ["-p", "."]);
      return [];
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      return error.message
        .split("\n")
        .slice(1)
        .filter((line) => /\S/.test(line));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

interface CompilerOptions {
  resolution: "bundler" | "nodenext";
  types: readonly string[];
  lib?: readonly string[];
  /** Default: that of the project, or else of the clone. */
  compiler?: string;
}

const STRICT = {
  target: "ES2022",
  noEmit: true,
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  // Declarations are checked: ours must be without errors.
  skipLibCheck: false,
};

/** An error in the declarations of a package that is not ours. */
function isOfDependency(line: string): boolean {
  return (
    /^(\.\.\/.*)?node_modules\/(?!troupe\/)/.test(line) || /^\.\.\/.*\/node_modules\//.test(line)
  );
}
