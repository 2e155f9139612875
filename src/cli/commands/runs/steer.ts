import { Command } from "commander";
import { printJson, printLine } from "../../terminal/output.ts";
import { activeRun } from "./attach.ts";
import { connect, type ConnectionOptions, withConnection } from "../connection.ts";

interface Options extends ConnectionOptions {
  to?: string;
}

export function steerCommand(): Command {
  const command = new Command("steer")
    .summary("send a message into the active run of a team")
    .description(
      'Sends a message into the active run of a team. Its agents read it at their next step. "troupe attach" shows the run.',
    )
    .argument("<team>", "id of the team")
    .argument("<text>", "the message")
    .option("--to <agent>", "only this agent gets it: a name, or a path such as outer/inner")
    .addHelpText("after", '\nExample:\n  $ npx troupe steer demo "Shorter, please." --to writer')
    .action(async (id: string, text: string, options: Options) => {
      await connect(options, async (client) => {
        const team = client.team(id);
        const { to } = options;
        const sent = await team.steer(await activeRun(team), text, { ...(to && { to }) });
        if (options.json) printJson(sent);
        else printLine("The agents read the message at their next step.");
      });
    });
  return withConnection(command);
}
