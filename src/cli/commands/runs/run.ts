import { openAsBlob } from "node:fs";
import { basename } from "node:path";
import { text } from "node:stream/consumers";
import { Command, Option } from "commander";
import { attachmentOf, type RunOptions, type Task, type TaskFile } from "../../../client/index.ts";
import { CliError, EXIT } from "../../terminal/errors.ts";
import { follow } from "../../terminal/follow.ts";
import { connect, type ConnectionOptions, withConnection } from "../connection.ts";
import { findTeam } from "../team-input.ts";

interface Options extends ConnectionOptions {
  template?: string;
  component?: string;
  file: string[];
  onConflict: NonNullable<RunOptions["on_conflict"]>;
}

export function runCommand(): Command {
  const command = new Command("run")
    .summary("run a team and show what it says")
    .description(
      "Runs a team and streams what its agents say. Questions and approvals appear in the terminal, and each line that you type meanwhile goes into the run. Ctrl-C leaves the run, which continues on the server.",
    )
    .argument("<team>", "id of the team")
    .argument(
      "[task]",
      'text for the team; "-" reads it from the standard input; without a task, the team continues',
    )
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
      new Option(
        "--file <file>",
        "attach a file, or a URL that the server fetches; repeat for more files",
      )
        .argParser((file: string, before: string[]) => [...before, file])
        .default([], "none"),
    )
    .addOption(
      new Option("--on-conflict <what>", "what to do while the team is busy")
        .choices(["reject", "queue", "interrupt", "steer"])
        .default("reject"),
    )
    .addHelpText(
      "after",
      `
Exit codes: 0 completed, 3 failed, 4 cancelled, 5 waits for a human and there is no terminal, 130 left with Ctrl-C.

Example:
  $ npx troupe run demo "Write about a lighthouse." --template writer_critic
  $ npx troupe run demo "What is the rent?" --file lease.pdf`,
    )
    .action(async (id: string, task: string | undefined, options: Options) => {
      await connect(options, async (client) => {
        const input = await withFiles(await readTask(task), options.file);
        const team = await findTeam(client, id, options);
        process.exitCode = await follow(
          team,
          (signal) => team.run(input, { signal, on_conflict: options.onConflict }),
          { json: options.json === true, replays: false },
        );
      });
    });
  return withConnection(command);
}

/** @throws CliError for a file that cannot be read */
async function withFiles(task: string | null, files: readonly string[]): Promise<Task> {
  if (files.length === 0) return task;
  const parts = await Promise.all(files.map(partOf));
  const content = task === null ? parts : [task, ...parts];
  return { type: "MultiModalMessage", source: "user", content };
}

async function partOf(file: string): Promise<TaskFile> {
  if (/^https?:\/\//i.test(file)) return { url: file };
  try {
    // The server detects the media type from the name and the bytes.
    return await attachmentOf(await openAsBlob(file), basename(file));
  } catch (error) {
    throw new CliError(`The file ${file} cannot be read: ${(error as Error).message}`, {
      exitCode: EXIT.usage,
      code: "unreadable_file",
    });
  }
}

/** @throws CliError for an empty standard input */
async function readTask(task: string | undefined): Promise<string | null> {
  if (task !== "-") return task ?? null;
  const input = (await text(process.stdin)).trim();
  if (input !== "") return input;
  throw new CliError("The standard input is empty. It must contain the task.", {
    exitCode: EXIT.usage,
    code: "empty_task",
  });
}
