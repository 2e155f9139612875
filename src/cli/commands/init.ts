import { Command } from "commander";
import { writeProject } from "../init/project.ts";
import { printJson, printLine } from "../terminal/output.ts";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { CliError } from "../terminal/errors.ts";

/** Creates a new project. */
export function initCommand(): Command {
  return new Command("init")
    .summary("create a new project")
    .description(
      "Creates a project with an agent, a tool, a team, a test, and the configuration of the Worker and of continuous integration, and installs its packages. The project runs without an API key.",
    )
    .argument("[directory]", "a new or empty directory; the project gets its name", "my-team")
    .option("--no-install", "do not install the packages")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ npx troupe init my-team && cd my-team && npm start")
    .action(async (directory: string, options: { install: boolean; json?: true }) => {
      const name = writeProject(directory);
      if (options.install) await installPackages(directory);
      if (options.json) {
        printJson({ name, directory, installed: options.install });
        return;
      }
      printLine(`The project ${name} is in ${directory}. Start it and run its team:\n`);
      if (directory !== ".") printLine(`  cd ${directory}`);
      if (!options.install) printLine("  npm install");
      printLine("  npm start");
      printLine('  npx troupe run demo "When is the museum open?" --template town_guide');
    });
}

/**
 * Installs the packages of a project with npm, whose output goes to stderr.
 *
 * @throws CliError with the command to repeat
 */
async function installPackages(directory: string): Promise<void> {
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
    `The project was created, but its packages could not be installed. Try again: cd ${directory} && npm install`,
    { code: "install_failed" },
  );
}
