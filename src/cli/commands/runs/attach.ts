import { Command } from "commander";
import type { TeamClient } from "../../../client/index.ts";
import { CliError } from "../../terminal/errors.ts";
import { followRecorded } from "../../terminal/follow.ts";
import { connect, type ConnectionOptions, withConnection } from "../connection.ts";

export function attachCommand(): Command {
  const command = new Command("attach")
    .summary("show a run that was started before")
    .description(
      "Shows a run from its beginning and follows it, as if you had started it here: each line that you type goes into the run. Without an interactive terminal, the command exits when the run waits for a human.",
    )
    .argument("<team>", "id of the team")
    .argument("[run]", "id of the run; by default the active one")
    .addHelpText("after", "\nExample:\n  $ npx troupe attach demo")
    .action(async (id: string, run: string | undefined, options: ConnectionOptions) => {
      await connect(options, async (client) => {
        const team = client.team(id);
        const runId = run ?? (await activeRun(team));
        process.exitCode = await followRecorded(team, runId, options.json === true);
      });
    });
  return withConnection(command);
}

/** @throws CliError when no run is active */
export async function activeRun(team: TeamClient): Promise<string> {
  const { active_run } = await team.get();
  if (active_run !== null) return active_run;
  throw new CliError(
    `No run is active in the team "${team.id}". "troupe logs ${team.id}" shows the conversation.`,
    { code: "nothing_runs" },
  );
}
