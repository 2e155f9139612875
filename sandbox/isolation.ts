import { insideContainer } from "./process/container.ts";
import { ProcessIsolation } from "./process/isolation.ts";
import type { Isolation } from "./runner.ts";
import { type Settings, SettingsError } from "./settings.ts";
import { WasmIsolation } from "./wasm/isolation.ts";

/** The isolation that the settings name. @throws SettingsError when it would keep little in and nobody insists */
export async function createIsolation(
  settings: Settings,
  env: Readonly<Record<string, string | undefined>>,
  log: (line: string) => void,
): Promise<Isolation> {
  if (settings.isolation === "wasm")
    return new WasmIsolation({ cacheDirectory: settings.cache, poolSize: settings.pool });
  const missing = missingWall(env);
  if (missing !== undefined && !settings.forceProcess)
    throw new SettingsError(
      `SANDBOX_ISOLATION=process ${missing}. SANDBOX_FORCE_PROCESS=1 runs it all the same`,
    );
  if (missing !== undefined) log(`Careful: SANDBOX_ISOLATION=process ${missing}.`);
  return new ProcessIsolation({ ...settings, path: env.PATH ?? "" });
}

/** What would not keep code in. */
function missingWall(env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (!insideContainer(env))
    return "is for the inside of a container: here, code reaches what this machine has";
  // Only root can give each session a user of its own.
  if (process.getuid?.() !== 0)
    return "needs root inside of the container: as another user, code reaches the service, its key and other sessions";
  return undefined;
}
