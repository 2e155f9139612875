import { Command } from "commander";
import type { Memory } from "../../client/index.ts";
import { printJson, printLine } from "../terminal/output.ts";
import { connect, type ConnectionOptions, withConnection } from "./connection.ts";

/** The owner of a command's memories. */
interface PlaceOptions extends ConnectionOptions {
  team?: string;
  user?: string;
}

export function memoriesCommand(): Command {
  return new Command("memories")
    .description("Lists, adds and forgets what teams remember.")
    .addCommand(listCommand())
    .addCommand(addCommand())
    .addCommand(forgetCommand());
}

function listCommand(): Command {
  const command = withPlace(new Command("list"))
    .description("Lists memories, newest first, with their ids and where they were learned.")
    .option("--q <question>", "what an agent would find, the best first")
    .addHelpText("after", "\nExample:\n  $ npx troupe memories list --user ada")
    .action(async (options: PlaceOptions & { q?: string }) => {
      await connect(options, async (client) => {
        let cursor: string | null | undefined;
        do {
          const page = await client.memories.list({
            ...placeOf(options),
            q: options.q,
            limit: 200,
            cursor: cursor ?? undefined,
          });
          for (const memory of page.memories) print(memory, options);
          if (page.note !== undefined) process.stderr.write(`${page.note}\n`);
          cursor = page.next_cursor;
        } while (cursor !== null);
      });
    });
  return withConnection(command);
}

function addCommand(): Command {
  const command = withPlace(new Command("add"))
    .description("Adds a memory and prints its id.")
    .argument("<text>", "what to remember")
    .addHelpText("after", '\nExample:\n  $ npx troupe memories add --user ada "Prefers tea."')
    .action(async (content: string, options: PlaceOptions) => {
      await connect(options, async (client) => {
        const [added] = await client.memories.add({ ...placeOf(options), content });
        if (added === undefined) throw new TypeError("the server has added nothing");
        if (options.json) printJson(added);
        else printLine(added.id);
      });
    });
  return withConnection(command);
}

function forgetCommand(): Command {
  const command = new Command("forget")
    .description("Forgets a memory for good, what a run has learned, or all memories of a user.")
    .argument("[memory]", "id of the memory")
    .option("--run <run>", "take back what this run has learned")
    .option("--user <user>", "erase all memories of this user")
    .addHelpText("after", "\nExample:\n  $ npx troupe memories forget --user ada")
    .action(
      async (
        id: string | undefined,
        options: ConnectionOptions & { run?: string; user?: string },
      ) => {
        const { run, user } = options;
        if ((id === undefined) === (run === undefined && user === undefined)) {
          command.error("error: give the id of a memory, or --run or --user");
        }
        await connect(options, async (client) => {
          if (id !== undefined) return client.memories.forget(id);
          const { forgotten } = await client.memories.erase({ run, user });
          if (options.json) printJson({ forgotten });
          else printLine(forgotten === null ? "erased" : `${forgotten} forgotten`);
        });
      },
    );
  return withConnection(command);
}

function withPlace(command: Command): Command {
  return command
    .option("--team <team>", "memories of this team")
    .option("--user <user>", "memories of this user; by default those of the tenant");
}

function placeOf({ team, user }: PlaceOptions): {
  scope: "team" | "user" | "tenant";
  team?: string;
  user?: string;
} {
  if (team !== undefined) return { scope: "team", team };
  return user === undefined ? { scope: "tenant" } : { scope: "user", user };
}

function print(memory: Memory, { json }: ConnectionOptions): void {
  if (json) {
    printJson(memory);
    return;
  }
  const { id, content, source } = memory;
  const text = typeof content === "string" ? content : JSON.stringify(content);
  const from = source === null ? "" : `  (run ${source.run} of ${source.team})`;
  printLine(`${id}  ${text.replaceAll(/\s+/g, " ")}${from}`);
}
