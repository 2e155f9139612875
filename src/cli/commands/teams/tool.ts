import { readFileSync } from "node:fs";
import { Argument, Command } from "commander";
import type { GivenTeamTool, TeamTool } from "../../../client/index.ts";
import { CliError, EXIT } from "../../terminal/errors.ts";
import { printJson, printLine } from "../../terminal/output.ts";
import { connect, type ConnectionOptions, withConnection } from "../connection.ts";

const ACTIONS = ["show", "set", "delete"] as const;

export function toolCommand(): Command {
  const command = new Command("tool")
    .summary("show, set and delete the own tool of a team for MCP clients")
    .description(
      `Works with the tool by which MCP clients run a team with arguments of its own.

  show            shows it
  set FILE        sets it to that of a JSON file: name, description, input_schema, task and perhaps output_schema
  delete          deletes it`,
    )
    .argument("<team>", "id of the team")
    .addArgument(new Argument("[action]").choices(ACTIONS).default("show"))
    .argument("[file]", "the JSON file with the tool")
    .addHelpText("after", "\nExample:\n  $ npx troupe tool demo set tool.json")
    .action(
      async (id: string, action: string, file: string | undefined, options: ConnectionOptions) => {
        const isSet = action === "set";
        if (isSet !== (file !== undefined)) {
          throw wrong(`"${action}" is used as: troupe tool TEAM ${isSet ? "set FILE" : action}`);
        }
        const given = file === undefined ? undefined : toolIn(file);
        await connect(options, async (client) => {
          const team = client.team(id);
          if (given !== undefined) return print(await team.putTool(given), options);
          if (action === "show") return print(await team.tool(), options);
          await team.deleteTool();
          if (options.json) printJson({ deleted: id });
          else printLine(`The team ${id} has no tool of its own any more.`);
        });
      },
    );
  return withConnection(command);
}

function print(tool: TeamTool, { json }: ConnectionOptions): void {
  if (json) return printJson(tool);
  printLine(`${tool.name}  ${tool.description}`);
  printLine(`input_schema  ${JSON.stringify(tool.input_schema)}`);
  if (tool.output_schema !== null)
    printLine(`output_schema  ${JSON.stringify(tool.output_schema)}`);
  printLine(`task  ${tool.task}`);
}

/** @throws CliError */
function toolIn(file: string): GivenTeamTool {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    throw wrong(`The file "${file}" cannot be read.`);
  }
  try {
    // The server checks the tool. A shown one can be sent back as it is.
    const { updated_at: _, ...tool } = JSON.parse(text) as TeamTool;
    return tool;
  } catch {
    throw wrong(`The file "${file}" is not the JSON of a tool: write {"name": "...", ...}.`);
  }
}

function wrong(message: string): CliError {
  return new CliError(message, { exitCode: EXIT.usage, code: "usage" });
}
