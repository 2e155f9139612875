import { Command } from "commander";
import { acpCommand } from "./commands/runs/acp.ts";
import { attachCommand } from "./commands/runs/attach.ts";
import { buildCommand } from "./commands/build.ts";
import { backupCommand, restoreCommand } from "./commands/backup.ts";
import { connectionsCommand } from "./commands/connections.ts";
import { deployCommand } from "./commands/deploy.ts";
import { devCommand } from "./commands/dev.ts";
import { docsCommand } from "./commands/docs.ts";
import { serveCommand } from "./commands/serve.ts";
import { skillsCommand } from "./commands/skills.ts";
import { importCommand } from "./commands/teams/import.ts";
import { inboxCommand } from "./commands/runs/inbox.ts";
import { initCommand } from "./commands/init.ts";
import { keysCommand } from "./commands/keys.ts";
import { logsCommand } from "./commands/runs/logs.ts";
import { memoriesCommand } from "./commands/memories.ts";
import { notifyCommand } from "./commands/teams/notify.ts";
import { steerCommand } from "./commands/runs/steer.ts";
import { pauseCommand, resumeCommand, retryCommand } from "./commands/runs/pause.ts";
import { runCommand } from "./commands/runs/run.ts";
import { stopCommand } from "./commands/runs/stop.ts";
import {
  deleteCommand,
  exportCommand,
  teamsCommand,
  templatesCommand,
} from "./commands/teams/teams.ts";
import { tasksCommand } from "./commands/teams/tasks.ts";
import { toolCommand } from "./commands/teams/tool.ts";
import { triggersCommand } from "./commands/teams/triggers.ts";
import { versionsCommand } from "./commands/teams/versions.ts";
import { version } from "./terminal/package-root.ts";

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
    buildCommand(),
    serveCommand(),
    deployCommand({ root: process.cwd() }),
    runCommand(),
    attachCommand(),
    acpCommand(),
    stopCommand(),
    steerCommand(),
    pauseCommand(),
    resumeCommand(),
    retryCommand(),
    inboxCommand(),
    teamsCommand(),
    templatesCommand(),
    memoriesCommand(),
    docsCommand(),
    skillsCommand(),
    importCommand(),
    exportCommand(),
    versionsCommand(),
    tasksCommand(),
    triggersCommand(),
    notifyCommand(),
    toolCommand(),
    deleteCommand(),
    logsCommand(),
    keysCommand(),
    connectionsCommand(),
    backupCommand(),
    restoreCommand(),
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
