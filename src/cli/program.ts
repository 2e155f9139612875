import { Command } from "commander";
import { attachCommand } from "./commands/attach.ts";
import { devCommand } from "./commands/dev.ts";
import { importCommand } from "./commands/import.ts";
import { inboxCommand } from "./commands/inbox.ts";
import { initCommand } from "./commands/init.ts";
import { keysCommand } from "./commands/keys.ts";
import { logsCommand } from "./commands/logs.ts";
import { runCommand } from "./commands/run.ts";
import { stopCommand } from "./commands/stop.ts";
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
    inboxCommand(),
    importCommand(),
    logsCommand(),
    keysCommand(),
  ]) {
    program.addCommand(command);
  }
  return throwing(program);
}

/** Makes a command and those below it throw instead of ending the process, and name the help after a mistake. */
function throwing(command: Command): Command {
  command.exitOverride().showHelpAfterError('"--help" shows how it is used.');
  for (const one of command.commands) throwing(one);
  return command;
}
