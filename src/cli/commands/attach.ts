import { Command } from "commander";
import type { TeamClient } from "../../client/index.ts";
import { CliError } from "../errors.ts";
import { follow } from "../terminal/follow.ts";
import { connect, type ConnectionOptions, withConnection } from "./connection.ts";

export function attachCommand(): Command {
  const command = new Command("attach")
    .summary("show a run that was started before")
    .description(
      "Shows a run from its beginning and goes on with it, as if it had been started here.",
    )
    .argument("<team>", "id of the team")
    .argument("[run]", "id of the run; by default the active one")
    .addHelpText("after", "\nExample:\n  $ npx troupe attach demo")
    .action(async (id: string, run: string | undefined, options: ConnectionOptions) => {
      await connect(options, async (client) => {
        const team = client.team(id);
        const known = run ?? (await activeRun(team));
        process.exitCode = await follow(
          team,
          (signal) => team.watch(known, { signal }),
          options.json === true,
        );
      });
    });
  return withConnection(command);
}

/** @throws CliError when nothing runs */
export async function activeRun(team: TeamClient): Promise<string> {
  const { active_run } = await team.get();
  if (active_run !== null) return active_run;
  throw new CliError(
    `Nothing runs in the team "${team.id}". "troupe logs ${team.id}" shows what was said.`,
    { code: "nothing_runs" },
  );
}
