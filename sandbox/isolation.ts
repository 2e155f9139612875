import { insideContainer } from "./process/container.ts";
import { ProcessIsolation } from "./process/isolation.ts";
import type { Isolation } from "./runner.ts";
import { type Settings, SettingsError } from "./settings.ts";
import { WasmIsolation } from "./wasm/isolation.ts";

/** The isolation that the settings name. @throws SettingsError when it would keep nothing in */
export async function createIsolation(
  settings: Settings,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Isolation> {
  if (settings.isolation === "wasm")
    return new WasmIsolation({ cacheDirectory: settings.cache, poolSize: settings.pool });
  if (!settings.forceProcess && !insideContainer(env))
    throw new SettingsError(
      "SANDBOX_ISOLATION=process is for the inside of a container: here, code could read and change whatever this user can. SANDBOX_FORCE_PROCESS=1 runs it all the same.",
    );
  return new ProcessIsolation(settings);
}
