import { text } from "node:stream/consumers";
import { Command, Option } from "commander";
import type { RunOptions } from "../../client/index.ts";
import { CliError, EXIT } from "../errors.ts";
import { follow } from "../terminal/follow.ts";
import { connect, type ConnectionOptions, withConnection } from "./connection.ts";
import { findTeam } from "./team-input.ts";

interface Options extends ConnectionOptions {
  template?: string;
  component?: string;
  onConflict: NonNullable<RunOptions["on_conflict"]>;
}

export function runCommand(): Command {
  const command = new Command("run")
    .summary("run a team and show what it says")
    .description(
      "Runs a team and shows what its agents say while they say it. Questions of agents and approvals are asked in the terminal. Ctrl-C leaves the run, which goes on.",
    )
    .argument("<team>", "id of the team")
    .argument("[task]", 'text for the team; "-" reads it from the standard input; none continues')
    .addOption(
      new Option("--template <name>", "create the team from a template if it does not exist"),
    )
    .addOption(
      new Option(
        "--component <file>",
        "create the team from component JSON if it does not exist",
      ).conflicts("template"),
    )
    .addOption(
      new Option("--on-conflict <what>", "while the team is busy")
        .choices(["reject", "queue", "interrupt"])
        .default("reject"),
    )
    .addHelpText(
      "after",
      `
Exit codes: 0 completed, 3 failed, 4 cancelled, 5 waits for a human and there is no terminal, 130 left with Ctrl-C.

Example:
  $ npx troupe run demo "Write about a lighthouse." --template writer_critic`,
    )
    .action(async (id: string, task: string | undefined, options: Options) => {
      await connect(options, async (client) => {
        const input = await readTask(task);
        const team = await findTeam(client, id, options);
        process.exitCode = await follow(
          team,
          (signal) => team.run(input, { signal, on_conflict: options.onConflict }),
          options.json === true,
        );
      });
    });
  return withConnection(command);
}

/** @throws CliError for an empty standard input */
async function readTask(task: string | undefined): Promise<string | null> {
  if (task !== "-") return task ?? null;
  const input = (await text(process.stdin)).trim();
  if (input !== "") return input;
  throw new CliError("The standard input is empty: it should hold the task.", {
    exitCode: EXIT.usage,
    code: "empty_task",
  });
}
