import { spawn } from "node:child_process";
import { once } from "node:events";
import { CliError } from "../errors.ts";

/**
 * Installs the packages of a project with npm, which prints on the standard error output.
 *
 * @throws CliError saying how to repeat it
 */
export async function installPackages(directory: string): Promise<void> {
  const npm = spawn("npm", ["install", "--no-audit", "--no-fund"], {
    cwd: directory,
    stdio: ["ignore", process.stderr, process.stderr],
    shell: process.platform === "win32",
  });
  try {
    const [code] = (await once(npm, "close")) as [number | null];
    if (code === 0) return;
  } catch {
    // npm was not found.
  }
  throw new CliError(
    `The project is complete, but its packages could not be installed. Repeat it: cd ${directory} && npm install`,
    { code: "install_failed" },
  );
}
