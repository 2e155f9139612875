import { Command } from "commander";
import type { TeamClient } from "../../../client/index.ts";
import { CliError } from "../../terminal/errors.ts";
import { followRecorded } from "../../terminal/follow.ts";
import { printJson, printLine } from "../../terminal/output.ts";
import { activeRun } from "./attach.ts";
import { connect, type ConnectionOptions, withConnection } from "../connection.ts";

export function pauseCommand(): Command {
  const command = new Command("pause")
    .summary("pause the active run of a team")
    .description(
      'Pauses the active run of a team: its agents finish their current steps, and no new step starts. "troupe resume" continues it.',
    )
    .argument("<team>", "id of the team")
    .addHelpText("after", "\nExample:\n  $ npx troupe pause demo")
    .action(async (id: string, options: ConnectionOptions) => {
      await connect(options, async (client) => {
        const team = client.team(id);
        const run = await team.pause(await activeRun(team));
        if (options.json) printJson(run);
        else if (run.status === "paused") printLine("Paused.");
        else printLine("The run pauses once its agents have finished their current steps.");
      });
    });
  return withConnection(command);
}

export function resumeCommand(): Command {
  const command = new Command("resume")
    .summary("continue a paused run")
    .description("Continues the paused run of a team.")
    .argument("<team>", "id of the team")
    .addHelpText("after", "\nExample:\n  $ npx troupe resume demo && npx troupe attach demo")
    .action(async (id: string, options: ConnectionOptions) => {
      await connect(options, async (client) => {
        const team = client.team(id);
        const run = await team.resume(await activeRun(team));
        if (options.json) printJson(run);
        else printLine("The run continues.");
      });
    });
  return withConnection(command);
}

export function retryCommand(): Command {
  const command = new Command("retry")
    .summary("continue a run that failed or was cancelled")
    .description(
      "Starts a run that continues where the team's latest run failed or was cancelled, and shows it.",
    )
    .argument("<team>", "id of the team")
    .addHelpText("after", "\nExample:\n  $ npx troupe retry demo")
    .action(async (id: string, options: ConnectionOptions) => {
      await connect(options, async (client) => {
        const team = client.team(id);
        const { id: run } = await team.retry(await latestRun(team));
        process.exitCode = await followRecorded(team, run, options.json === true);
      });
    });
  return withConnection(command);
}

/** @throws CliError when the team has never run */
async function latestRun(team: TeamClient): Promise<string> {
  const [latest] = (await team.runs({ limit: 1 })).runs;
  if (latest !== undefined) return latest.id;
  throw new CliError(
    `The team "${team.id}" has not run yet. Start a run with "troupe run ${team.id} TASK".`,
    { code: "never_ran" },
  );
}
