import * as z from "zod";
import type { Target } from "./wheel-name.ts";

const packageSchema = z.object({
  name: z.string(),
  version: z.string(),
  /** Relative to the base address of the distribution. */
  file_name: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  depends: z.array(z.string()).default([]),
  /** The modules that users import. */
  imports: z.array(z.string()).default([]),
  package_type: z.string().default("package"),
});

const lockSchema = z.object({
  info: z.object({ python: z.string(), arch: z.string(), abi_version: z.string() }),
  packages: z.record(z.string(), packageSchema),
});

export type LockedPackage = z.output<typeof packageSchema>;

/** The packages of a lock file of Pyodide, by normalized name. */
export class Lock {
  /** The interpreter whose packages these are. */
  readonly target: Target;
  readonly #packages: ReadonlyMap<string, LockedPackage>;

  /** @throws Error when the text is not a lock file */
  constructor(text: string) {
    const { info, packages } = lockSchema.parse(JSON.parse(text));
    this.target = {
      python: info.python,
      platform: `pyemscripten_${info.abi_version}_${info.arch}`,
    };
    this.#packages = new Map(
      Object.values(packages).map((locked) => [normalized(locked.name), locked]),
    );
  }

  /** The names of all packages, without their tests and shared libraries. */
  get names(): string[] {
    return [...this.#packages.values()]
      .filter(({ package_type: type, file_name: file }) => type === "package" && isWheel(file))
      .map(({ name }) => name);
  }

  /** A package and everything it depends on, the package last. @throws Error that names the missing package */
  closure(name: string): LockedPackage[] {
    const found = new Map<string, LockedPackage>();
    this.#collect(name, name, found);
    return [...found.values()];
  }

  #collect(name: string, root: string, found: Map<string, LockedPackage>, above = new Set()): void {
    const locked = this.#packages.get(normalized(name));
    if (locked === undefined)
      throw new Error(
        name === root
          ? `the lock file has no package ${JSON.stringify(name)}`
          : `it needs ${JSON.stringify(name)}, which the lock file does not have`,
      );
    if (found.has(locked.name) || above.has(locked.name)) return;
    if (!isWheel(locked.file_name))
      throw new Error(`it needs the shared library ${locked.name}, which is not supported`);
    above.add(locked.name);
    for (const dependency of locked.depends) this.#collect(dependency, root, found, above);
    found.set(locked.name, locked);
  }
}

/** As Python's package index compares names. */
function normalized(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, "-");
}

function isWheel(file: string): boolean {
  return file.endsWith(".whl");
}
