import { Command } from "commander";
import { printJson, printLine } from "../terminal/output.ts";

/** Builds the Worker of a project, so that `troupe serve` can run it. */
export function buildCommand(): Command {
  return new Command("build")
    .summary("build the project's Worker for troupe serve")
    .description(
      "Builds the Worker of the project into dist, with its static assets and a description (troupe.json). The machine that serves it needs neither wrangler nor the sources.",
    )
    .option("--env <name>", "the environment of the configuration")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ npx troupe build && npx troupe serve")
    .action(async ({ env, json }: { env?: string; json?: true }) => {
      const { buildProject } = await import("../build/build.ts");
      const directory = await buildProject({ root: process.cwd(), env });
      if (json) printJson({ directory });
      else printLine(`The Worker is in ${directory}. Run it: npx troupe serve`);
    });
}
