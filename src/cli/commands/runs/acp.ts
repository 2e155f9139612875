import { Command, Option } from "commander";
import { serveEditor } from "../../acp/serve-editor.ts";
import { connect, type ConnectionOptions, withConnection } from "../connection.ts";
import { findTeam } from "../team-input.ts";

interface Options extends ConnectionOptions {
  template?: string;
}

export function acpCommand(): Command {
  const command = new Command("acp")
    .summary("serve a team to an editor (Agent Client Protocol)")
    .description(
      "Serves a team to an editor over the standard input and output, by the Agent Client Protocol. Each session of the editor is a copy of the team without its conversation. An editor starts this command; in a terminal it waits for the protocol's messages.",
    )
    .argument("<team>", "id of the team")
    .addOption(
      new Option("--template <name>", "create the team from a template if it does not exist"),
    )
    .addHelpText(
      "after",
      '\nExample:\n  $ npx troupe acp desk\n\nIn the settings of Zed:\n  "agent_servers": { "Desk": { "command": "npx", "args": ["troupe", "acp", "desk"] } }',
    )
    .action(async (id: string, options: Options) => {
      await connect(options, async (client) =>
        serveEditor(client, await findTeam(client, id, options)),
      );
    });
  return withConnection(command);
}
