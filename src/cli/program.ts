import { Command } from "commander";
import { attachCommand } from "./commands/attach.ts";
import { connectionsCommand } from "./commands/connections.ts";
import { devCommand } from "./commands/dev.ts";
import { docsCommand } from "./commands/docs.ts";
import { importCommand } from "./commands/import.ts";
import { inboxCommand } from "./commands/inbox.ts";
import { initCommand } from "./commands/init.ts";
import { keysCommand } from "./commands/keys.ts";
import { logsCommand } from "./commands/logs.ts";
import { memoriesCommand } from "./commands/memories.ts";
import { pauseCommand, resumeCommand, retryCommand } from "./commands/pause.ts";
import { runCommand } from "./commands/run.ts";
import { stopCommand } from "./commands/stop.ts";
import { deleteCommand, exportCommand, teamsCommand, templatesCommand } from "./commands/teams.ts";
import { versionsCommand } from "./commands/versions.ts";
import { version } from "./package-root.ts";

export function createProgram(): Command {
  const program = new Command("troupe")
    .description("Teams of AI agents on Cloudflare Workers.")
    .version(version)
    .addHelpText(
      "after",
      `
Example:
  $ npx troupe init my-team && cd my-team && npm start

"troupe COMMAND --help" describes a command.`,
    );
  for (const command of [
    initCommand(),
    devCommand({ root: process.cwd() }),
    runCommand(),
    attachCommand(),
    stopCommand(),
    pauseCommand(),
    resumeCommand(),
    retryCommand(),
    inboxCommand(),
    teamsCommand(),
    templatesCommand(),
    memoriesCommand(),
    docsCommand(),
    importCommand(),
    exportCommand(),
    versionsCommand(),
    deleteCommand(),
    logsCommand(),
    keysCommand(),
    connectionsCommand(),
  ]) {
    program.addCommand(command);
  }
  return throwing(program);
}

/** Makes a command and its subcommands throw instead of ending the process, and mention the help after a mistake. */
function throwing(command: Command): Command {
  command.exitOverride().showHelpAfterError('"--help" shows how it is used.');
  for (const one of command.commands) throwing(one);
  return command;
}
