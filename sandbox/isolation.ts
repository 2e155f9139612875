import { insideContainer } from "./process/container.ts";
import { ProcessIsolation } from "./process/isolation.ts";
import type { Isolation } from "./runner.ts";
import { type Settings, SettingsError } from "./settings.ts";
import { WasmIsolation } from "./wasm/isolation.ts";

/** Creates the isolation that the settings name. @throws SettingsError when it would not isolate here and is not forced */
export async function createIsolation(
  settings: Settings,
  env: Readonly<Record<string, string | undefined>>,
  log: (line: string) => void,
): Promise<Isolation> {
  if (settings.isolation === "wasm")
    return new WasmIsolation({ cacheDirectory: settings.cache, poolSize: settings.pool });
  const missing = missingIsolation(env);
  if (missing !== undefined && !settings.forceProcess)
    throw new SettingsError(
      `SANDBOX_ISOLATION=process ${missing}. Set SANDBOX_FORCE_PROCESS=1 to run it anyway`,
    );
  if (missing !== undefined) log(`Warning: SANDBOX_ISOLATION=process ${missing}.`);
  return new ProcessIsolation({ ...settings, path: env.PATH ?? "" });
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
