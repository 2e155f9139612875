import { Command } from "commander";
import { EXIT } from "../../terminal/errors.ts";
import { untilInterrupted } from "../../terminal/interrupt.ts";
import { printJson } from "../../terminal/output.ts";
import { Transcript } from "../../terminal/transcript.ts";
import { connect, type ConnectionOptions, withConnection } from "../connection.ts";

export function logsCommand(): Command {
  const command = new Command("logs")
    .summary("show everything that happened in a team")
    .description("Shows the messages and events of a team, in all its runs, oldest first.")
    .argument("<team>", "id of the team")
    .option("-f, --follow", "follow new messages and events, until Ctrl-C")
    .addHelpText("after", "\nExample:\n  $ npx troupe logs demo -f")
    .action(async (id: string, options: ConnectionOptions & { follow?: true }) => {
      await connect(options, async (client) => {
        const transcript = new Transcript(process.stdout, { runs: true });
        const interrupted = await untilInterrupted(async (signal) => {
          const events = client.team(id).events({ signal, follow: options.follow === true });
          for await (const item of events) {
            // Texts in progress are not part of the log.
            if (item.kind === "text" || item.kind === "discard") continue;
            if (options.json) printJson(item);
            else transcript.show(item);
          }
        });
        if (interrupted) process.exitCode = EXIT.interrupted;
      });
    });
  return withConnection(command);
}
