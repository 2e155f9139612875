// Says on its error output why the Python of SANDBOX_PYTHON, which --python has named, cannot run code.
import { namedPython } from "./isolation.ts";
import { readSettings, SettingsError } from "./settings.ts";

try {
  await namedPython(readSettings(process.env), "--python");
} catch (error) {
  console.error(error instanceof SettingsError ? error.message : error);
  process.exitCode = 1;
}
