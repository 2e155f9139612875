import { Command } from "commander";
import { installPackages } from "../init/install.ts";
import { writeProject } from "../init/project.ts";
import { printJson, printLine } from "../terminal/output.ts";

/** Makes a new project. */
export function initCommand(): Command {
  return new Command("init")
    .summary("make a new project")
    .description(
      "Makes a project with an agent, a tool, a team and its test, the configuration of a Worker and of continuous integration, and installs its packages. It runs without a key.",
    )
    .argument("[directory]", "new or empty; its name becomes that of the project", "my-team")
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
      printLine(`The project ${name} is in ${directory}. Start it, and run its team:\n`);
      if (directory !== ".") printLine(`  cd ${directory}`);
      if (!options.install) printLine("  npm install");
      printLine("  npm start");
      printLine('  npx troupe run demo "When is the museum open?" --template town_guide');
    });
}
