import { Command } from "commander";
import { printJson, printLine } from "../../terminal/output.ts";
import { activeRun } from "./attach.ts";
import { connect, type ConnectionOptions, withConnection } from "../connection.ts";

export function stopCommand(): Command {
  const command = new Command("stop")
    .summary("end the active run of a team")
    .description("Completes the active run of a team after its current turn.")
    .argument("<team>", "id of the team")
    .option("--now", "cancel it instead; the messages of its finished turns are kept")
    .addHelpText("after", "\nExample:\n  $ npx troupe stop demo --now")
    .action(async (id: string, options: ConnectionOptions & { now?: true }) => {
      await connect(options, async (client) => {
        const team = client.team(id);
        const run = await team.stop(await activeRun(team), options.now ? "now" : "after_turn");
        if (options.json) printJson(run);
        else printLine(options.now ? "Cancelled." : "The run ends after its current turn.");
      });
    });
  return withConnection(command);
}
