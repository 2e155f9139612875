import { Argument, Command } from "commander";
import type { ChangeTask, TaskOnBoard, TeamClient } from "../../../client/index.ts";
import { CliError, EXIT } from "../../terminal/errors.ts";
import { printJson, printLine } from "../../terminal/output.ts";
import { connect, type ConnectionOptions, withConnection } from "../connection.ts";

interface TasksOptions extends ConnectionOptions {
  note?: string;
  owner?: string;
  dependsOn?: string[];
  position?: string;
}

/** @returns the task, or nothing for actions without one */
type Action = (
  team: TeamClient,
  value: string,
  options: TasksOptions,
) => Promise<TaskOnBoard | undefined>;

const ACTIONS: { readonly [name: string]: { takes?: string; run: Action } } = {
  list: { run: list },
  add: {
    takes: "title",
    run: (team, title, { note, dependsOn }) =>
      team.tasks.add({
        title,
        ...(note !== undefined && { note }),
        ...(dependsOn !== undefined && { depends_on: dependsOn }),
      }),
  },
  change: { takes: "id", run: (team, id, options) => team.tasks.change(id, changesOf(options)) },
  done: { takes: "id", run: (team, id) => team.tasks.change(id, { state: "done" }) },
  drop: { takes: "id", run: (team, id) => team.tasks.change(id, { state: "dropped" }) },
  reopen: { takes: "id", run: (team, id) => team.tasks.change(id, { state: "open" }) },
  remove: {
    takes: "id",
    run: async (team, id) => {
      await team.tasks.delete(id);
      return undefined;
    },
  },
};

export function tasksCommand(): Command {
  const command = new Command("tasks")
    .summary("list and change the tasks of a team's board")
    .description(
      `Works with the board of tasks that the agents of a team share (the memory TaskBoard).

  list            lists the tasks in their order
  add TITLE       adds a task at the end
  change ID       changes its note, owner, dependencies or position
  done ID         marks it as done
  drop ID         marks it as dropped
  reopen ID       makes it open again, without an owner
  remove ID       deletes it`,
    )
    .argument("<team>", "id of the team")
    .addArgument(new Argument("[action]").choices(Object.keys(ACTIONS)).default("list"))
    .argument("[value]", "the title or the id")
    .option("--note <text>", 'a note; "" removes it')
    .option("--owner <name>", 'of "change": the agent or person whose task it is; "" for nobody')
    .option("--depends-on <ids...>", "ids of the tasks that must end before")
    .option("--position <number>", 'of "change": the index in the list, from 0')
    .addHelpText(
      "after",
      '\nExample:\n  $ npx troupe tasks demo add "Write the invitation" --note "In two sentences."\n  $ npx troupe tasks demo change p1 --position 0',
    )
    .action(async (id: string, name: string, value: string | undefined, options: TasksOptions) => {
      const { takes, run } = ACTIONS[name] ?? { run: list };
      if ((takes === undefined) !== (value === undefined)) {
        const usage = ["troupe tasks TEAM", name, ...(takes ? [takes.toUpperCase()] : [])];
        throw wrong(`"${name}" is used as: ${usage.join(" ")}`);
      }
      await connect(options, async (client) => {
        const task = await run(client.team(id), value ?? "", options);
        if (task === undefined) return;
        if (options.json) printJson(task);
        else printLine(lineOf(task));
      });
    });
  return withConnection(command);
}

async function list(team: TeamClient, _: string, { json }: TasksOptions): Promise<undefined> {
  const { tasks } = await team.tasks.list();
  for (const task of tasks) {
    if (json) printJson(task);
    else printLine(lineOf(task));
  }
  if (tasks.length === 0 && !json) printLine("The board is empty.");
}

/** @throws CliError */
function changesOf({ note, owner, dependsOn, position }: TasksOptions): ChangeTask {
  if (position !== undefined && !/^\d+$/.test(position)) {
    throw wrong(`--position is a whole number from 0, not "${position}".`);
  }
  return {
    ...(note !== undefined && { note: note || null }),
    ...(owner !== undefined && { owner: owner || null }),
    ...(dependsOn !== undefined && { depends_on: dependsOn }),
    ...(position !== undefined && { position: Number(position) }),
  };
}

function wrong(message: string): CliError {
  return new CliError(message, { exitCode: EXIT.usage, code: "usage" });
}

function lineOf({ id, title, note, owner, state, depends_on }: TaskOnBoard): string {
  const after = depends_on.length > 0 ? `after ${depends_on.join(", ")}` : "";
  const text = note?.replaceAll(/\s+/g, " ") ?? "";
  return [id, state, owner ?? "-", title, after, text].filter((part) => part !== "").join("  ");
}
