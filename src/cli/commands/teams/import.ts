import { Command } from "commander";
import { printJson, printLine } from "../../terminal/output.ts";
import { connect, type ConnectionOptions, withConnection } from "../connection.ts";
import { createFrom } from "../team-input.ts";

export function importCommand(): Command {
  const command = new Command("import")
    .summary("create a team from component JSON")
    .description(
      "Creates a team from component JSON, as AutoGen Studio and dump_component() write it. Prints the team's id, or each part that does not load and why.",
    )
    .argument("<file>", 'a file; "-" reads the standard input')
    .option("--id <id>", "id of the team; random by default")
    .option("--label <label>", "label of the team in lists")
    .addHelpText("after", "\nExample:\n  $ npx troupe import team.json --id support")
    .action(async (file: string, options: ConnectionOptions & { id?: string; label?: string }) => {
      await connect(options, async (client) => {
        const { id, label } = options;
        const created = await createFrom(client, file, {
          ...(id !== undefined && { id }),
          ...(label !== undefined && { label }),
        });
        const team = await created.get();
        if (options.json) {
          printJson(team);
          return;
        }
        printLine(team.id);
        for (const { path, message } of team.notes) process.stderr.write(`${path}: ${message}\n`);
      });
    });
  return withConnection(command);
}
