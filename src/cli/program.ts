import { Command } from "commander";
import { version } from "./terminal/package-root.ts";

/**
 * The makers of the commands, by their names. The modules of a command are imported when it is asked for: a server would hold
 * those of all others for as long as it runs.
 */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  init: async () => (await import("./commands/init.ts")).initCommand(),
  dev: async () => (await import("./commands/dev.ts")).devCommand({ root: process.cwd() }),
  build: async () => (await import("./commands/build.ts")).buildCommand(),
  serve: async () => (await import("./commands/serve.ts")).serveCommand(),
  deploy: async () => (await import("./commands/deploy.ts")).deployCommand({ root: process.cwd() }),
  eval: async () => (await import("./commands/eval.ts")).evalCommand(),
  run: async () => (await import("./commands/runs/run.ts")).runCommand(),
  attach: async () => (await import("./commands/runs/attach.ts")).attachCommand(),
  acp: async () => (await import("./commands/runs/acp.ts")).acpCommand(),
  stop: async () => (await import("./commands/runs/stop.ts")).stopCommand(),
  steer: async () => (await import("./commands/runs/steer.ts")).steerCommand(),
  pause: async () => (await import("./commands/runs/pause.ts")).pauseCommand(),
  resume: async () => (await import("./commands/runs/pause.ts")).resumeCommand(),
  retry: async () => (await import("./commands/runs/pause.ts")).retryCommand(),
  inbox: async () => (await import("./commands/runs/inbox.ts")).inboxCommand(),
  teams: async () => (await import("./commands/teams/teams.ts")).teamsCommand(),
  templates: async () => (await import("./commands/teams/teams.ts")).templatesCommand(),
  memories: async () => (await import("./commands/memories.ts")).memoriesCommand(),
  docs: async () => (await import("./commands/docs.ts")).docsCommand(),
  skills: async () => (await import("./commands/skills.ts")).skillsCommand(),
  import: async () => (await import("./commands/teams/import.ts")).importCommand(),
  export: async () => (await import("./commands/teams/teams.ts")).exportCommand(),
  versions: async () => (await import("./commands/teams/versions.ts")).versionsCommand(),
  tasks: async () => (await import("./commands/teams/tasks.ts")).tasksCommand(),
  triggers: async () => (await import("./commands/teams/triggers.ts")).triggersCommand(),
  notify: async () => (await import("./commands/teams/notify.ts")).notifyCommand(),
  tool: async () => (await import("./commands/teams/tool.ts")).toolCommand(),
  delete: async () => (await import("./commands/teams/teams.ts")).deleteCommand(),
  logs: async () => (await import("./commands/runs/logs.ts")).logsCommand(),
  keys: async () => (await import("./commands/keys.ts")).keysCommand(),
  connections: async () => (await import("./commands/connections.ts")).connectionsCommand(),
  backup: async () => (await import("./commands/backup.ts")).backupCommand(),
  restore: async () => (await import("./commands/backup.ts")).restoreCommand(),
};

/**
 * The program with the command that the first argument names, or with all commands where it names none.
 *
 * @param args the arguments without the program's name
 */
export async function createProgram(args: readonly string[] = []): Promise<Command> {
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
  const named = Object.entries(COMMANDS).filter(([name]) => name === args[0]);
  const makers = named.length > 0 ? named : Object.entries(COMMANDS);
  for (const command of await Promise.all(makers.map(([, make]) => make()))) {
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
