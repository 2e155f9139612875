import { Command, Option } from "commander";
import type { ListedTeam } from "../../../client/index.ts";
import { printJson, printLine } from "../../terminal/output.ts";
import { connect, type ConnectionOptions, withConnection } from "../connection.ts";

interface ListOptions extends ConnectionOptions {
  status?: string;
  search?: string;
}

export function teamsCommand(): Command {
  const command = new Command("teams")
    .summary("list the teams")
    .description(
      "Lists the teams with id, status, time of the last change and label, most recent activity first.",
    )
    .addOption(
      new Option("--status <status>", "only teams with this status").choices([
        "idle",
        "running",
        "waiting",
        "paused",
      ]),
    )
    .option("--search <text>", "only teams with this text in their id or label")
    .addHelpText("after", "\nExample:\n  $ npx troupe teams --status waiting")
    .action(async ({ status, search, ...options }: ListOptions) => {
      await connect(options, async (client) => {
        let listed = 0;
        let cursor: string | undefined;
        do {
          const page = await client.teams.list({ limit: 200, status, q: search, cursor });
          for (const team of page.teams) {
            if (options.json) printJson(team);
            else printLine(lineOf(team));
          }
          listed += page.teams.length;
          cursor = page.next_cursor ?? undefined;
        } while (cursor !== undefined);
        if (listed === 0 && !options.json) printLine("No teams match.");
      });
    });
  return withConnection(command);
}

function lineOf({ id, status, updated_at, label }: ListedTeam): string {
  return [id, status.padEnd("running".length), updated_at, label ?? ""].join("  ").trimEnd();
}

export function templatesCommand(): Command {
  const command = new Command("templates")
    .summary("list the teams that can be created by name")
    .description("Lists the templates: teams that can be created by name.")
    .addHelpText("after", "\nExample:\n  $ npx troupe templates")
    .action(async (options: ConnectionOptions) => {
      await connect(options, async (client) => {
        for (const template of await client.templates()) {
          if (options.json) printJson(template);
          else printLine(`${template.name}  ${template.description}`);
        }
      });
    });
  return withConnection(command);
}

export function deleteCommand(): Command {
  const command = new Command("delete")
    .summary("delete a team")
    .description("Stops the active run of a team and erases all its data.")
    .argument("<team>", "id of the team")
    .addHelpText("after", "\nExample:\n  $ npx troupe delete demo")
    .action(async (id: string, options: ConnectionOptions) => {
      await connect(options, async (client) => {
        await client.team(id).delete();
        if (options.json) printJson({ deleted: id });
        else printLine(`Team ${id} is deleted.`);
      });
    });
  return withConnection(command);
}

/** The API's placeholder for a secret. */
const REDACTED = '"**********"';

export function exportCommand(): Command {
  const command = new Command("export")
    .summary("print a team as component JSON")
    .description(
      'Prints a team as component JSON, which "troupe import" and AutoGen load. Secrets are not exported.',
    )
    .argument("<team>", "id of the team")
    .option(
      "--state",
      "print its state instead: the conversation, in the format of AutoGen's save_state()",
    )
    .addHelpText("after", "\nExample:\n  $ npx troupe export demo > team.json")
    .action(async (id: string, options: ConnectionOptions & { state?: true }) => {
      await connect(options, async (client) => {
        const team = client.team(id);
        const exported = options.state ? await team.saveState() : (await team.get()).component;
        if (options.json) printJson(exported);
        else process.stdout.write(`${JSON.stringify(exported, null, 2)}\n`);
        if (!options.state && JSON.stringify(exported).includes(REDACTED)) {
          process.stderr.write(
            `Secrets are shown as ${REDACTED}. Replace them with the secrets, or with references such as "env:OPENAI_API_KEY".\n`,
          );
        }
      });
    });
  return withConnection(command);
}
