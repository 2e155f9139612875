import { insideContainer } from "./process/container.ts";
import { findPython, type Python } from "./process/python.ts";
import { installPackages } from "./process/packages.ts";
import { ProcessIsolation } from "./process/isolation.ts";
import type { Isolation } from "./runner.ts";
import { type Settings, SettingsError } from "./settings.ts";
import { WasmIsolation } from "./wasm/isolation.ts";
import { planPackages } from "./wasm/wheels/plan.ts";

/** Creates the isolation that the settings name. @throws SettingsError when it would not isolate here and is not forced */
export async function createIsolation(
  settings: Settings,
  env: Readonly<Record<string, string | undefined>>,
  log: (line: string) => void,
): Promise<Isolation> {
  if (settings.isolation === "wasm") {
    const cacheDirectory = settings.cache;
    const { packages } = settings;
    const plan = await planPackages({
      packages,
      baseUrl: settings.packagesUrl,
      lockFile: settings.packagesLock,
      cacheDirectory,
      log,
    });
    return new WasmIsolation({
      cacheDirectory,
      poolSize: settings.pool,
      ...(packages.length > 0 && { packages: plan }),
      log,
    });
  }
  const missing = missingIsolation(env);
  if (missing !== undefined && !settings.forceProcess)
    throw new SettingsError(
      `SANDBOX_ISOLATION=process ${missing}. Set SANDBOX_FORCE_PROCESS=1 to run it anyway`,
    );
  if (missing !== undefined) log(`Warning: SANDBOX_ISOLATION=process ${missing}.`);
  const python = await pythonWithPackages(settings, env, log);
  return new ProcessIsolation({ ...settings, python, path: env.PATH ?? "" });
}

/** The Python that the settings name, with their packages. */
async function pythonWithPackages(
  settings: Settings,
  env: Readonly<Record<string, string | undefined>>,
  log: (line: string) => void,
): Promise<Python | undefined> {
  const { packages: requirements, cache: cacheDirectory } = settings;
  const python = await namedPython(settings);
  if (requirements.length === 0) return python;
  const given = { requirements, python, cacheDirectory, env, log };
  const environment = await installPackages(given);
  return environment === undefined
    ? python
    : namedPython({ ...settings, python: environment }, "The environment of SANDBOX_PACKAGES");
}

/**
 * The Python that the settings name.
 *
 * @throws SettingsError when it does not run
 */
export async function namedPython(
  { python, firstUid }: Pick<Settings, "python" | "firstUid">,
  name = "SANDBOX_PYTHON",
): Promise<Python | undefined> {
  if (python === "") return undefined;
  try {
    return await findPython(python, process.getuid?.() === 0 ? firstUid : undefined);
  } catch (error) {
    throw new SettingsError(`${name} ${error instanceof Error ? error.message : String(error)}`);
  }
}

/**
 * What runs the programs of MCP servers: the isolation itself where it is that of a container, and with SANDBOX_MCP=1 processes of
 * this machine. Undefined where they may not run.
 */
export function programIsolation(
  settings: Settings,
  isolation: Isolation,
  env: Readonly<Record<string, string | undefined>>,
): ProcessIsolation | undefined {
  const isolated = isolation instanceof ProcessIsolation && missingIsolation(env) === undefined;
  if (!isolated && !settings.mcp) return undefined;
  if (isolation instanceof ProcessIsolation) return isolation;
  // Its directory and users are those of the data directory, which no other service has.
  return new ProcessIsolation({ ...settings, python: undefined, path: env.PATH ?? "" });
}

/** What the machine lacks for the isolation of code and of programs. */
export function missingWalls(code: Isolation, programs: Isolation | undefined): string[] {
  return [...new Set([...code.missing, ...(programs?.missing ?? [])])];
}

/** One line that says what isolates code and programs. */
export function describeIsolation(code: Isolation, programs: Isolation | undefined): string {
  const describe = ({ name, walls }: Isolation): string =>
    name === "wasm" ? name : `${name}, ${walls.join(" and ") || "without namespaces and cgroups"}`;
  const ofPrograms = programs === undefined ? "not available" : describe(programs);
  return `Isolation of code: ${describe(code)}. Programs of MCP servers: ${ofPrograms}.`;
}

/** Says why processes would not be isolated here. */
function missingIsolation(env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (!insideContainer(env))
    return "is for use inside a container: outside, code can reach everything on this machine";
  // Only root can run each session as a different user.
  if (process.getuid?.() !== 0)
    return "needs root inside a container: as another user, code can reach the service, its key and other sessions";
  return undefined;
}
