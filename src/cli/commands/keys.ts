import { Command, InvalidArgumentError } from "commander";
import type { CreateKey, TeamClient } from "../../client/index.ts";
import { isScope, SCOPES } from "../../contract/constants.ts";
import { printJson, printLine } from "../terminal/output.ts";
import { connect, type ConnectionOptions, withConnection } from "./connection.ts";

interface TeamOptions extends ConnectionOptions {
  team?: string;
}

type Scopes = NonNullable<CreateKey["scopes"]>;

export function keysCommand(): Command {
  return new Command("keys")
    .description(
      "Creates, lists and revokes API keys, and lists and revokes the tokens and links of a team.",
    )
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand());
}

function createCommand(): Command {
  const command = new Command("create")
    .description("Creates a key and prints it. The key is shown only once.")
    .requiredOption("--name <name>", "what the key is for")
    .option(
      "--scopes <list>",
      `scopes separated by commas: ${SCOPES.join(", ")}; your own by default`,
      scopes,
    )
    .option(
      "--expires-in <seconds>",
      "seconds until the key expires; never by default",
      wholeNumber,
    )
    .addHelpText(
      "after",
      "\nExample:\n  $ npx troupe keys create --name approvals --scopes requests:write",
    )
    .action(
      async (
        options: ConnectionOptions & { name: string; scopes?: Scopes; expiresIn?: number },
      ) => {
        await connect(options, async (client) => {
          const key = await client.keys.create({
            name: options.name,
            ...(options.scopes && { scopes: options.scopes }),
            ...(options.expiresIn !== undefined && { expires_in: options.expiresIn }),
          });
          if (options.json) {
            printJson(key);
            return;
          }
          // Only the key goes to stdout, so that a script can capture it.
          printLine(key.key);
          const end = key.expires_at === null ? "does not expire" : `expires ${key.expires_at}`;
          process.stderr.write(
            `Key ${key.id} "${key.name}": ${key.scopes.join(", ")}; ${end}. It is not shown again.\n`,
          );
        });
      },
    );
  return withConnection(command);
}

function listCommand(): Command {
  const command = new Command("list")
    .description(
      "Lists the created keys, or the tokens and links of a team, without their secrets.",
    )
    .option("--team <id>", "the tokens and links of this team instead of keys")
    .addHelpText("after", "\nExample:\n  $ npx troupe keys list --team desk")
    .action(async (options: TeamOptions) => {
      await connect(options, async (client) => {
        if (options.team !== undefined) {
          await listTokens(client.team(options.team), options);
          return;
        }
        let cursor: string | null | undefined;
        do {
          const page = await client.keys.list({ limit: 200, ...(cursor && { cursor }) });
          for (const key of page.keys) {
            if (options.json) printJson(key);
            else printLine(`${key.id}  ${key.name}  ${key.scopes.join(",")}`);
          }
          cursor = page.next_cursor;
        } while (cursor !== null);
      });
    });
  return withConnection(command);
}

async function listTokens(team: TeamClient, { json }: ConnectionOptions): Promise<void> {
  let cursor: string | null | undefined;
  do {
    const page = await team.tokens({ limit: 200, ...(cursor && { cursor }) });
    for (const token of page.tokens) {
      const { id, kind, made_by, scopes: given, expires_at } = token;
      if (json) printJson(token);
      else printLine([id, kind, made_by, given.join(","), expires_at].join("  "));
    }
    cursor = page.next_cursor;
  } while (cursor !== null);
}

function revokeCommand(): Command {
  const command = new Command("revoke")
    .description("Revokes a key, or a token or link of a team.")
    .argument("<id>", 'id of the key or token, from "troupe keys list"')
    .option("--team <id>", "the team whose token or link it is")
    .addHelpText("after", "\nExample:\n  $ npx troupe keys revoke 8sJq2xV4mT1a --team desk")
    .action(async (id: string, options: TeamOptions) => {
      await connect(options, async (client) => {
        const { team, json } = options;
        await (team === undefined ? client.keys.revoke(id) : client.team(team).revokeTokens(id));
        if (json) printJson({ revoked: id });
        else if (team !== undefined) printLine(`Token ${id} is revoked.`);
        else printLine(`Key ${id} is revoked; it stops working within 10 seconds.`);
      });
    });
  return withConnection(command);
}

function scopes(list: string): Scopes {
  const names = list.split(",").map((name) => name.trim());
  const unknown = names.filter((name) => !isScope(name));
  if (unknown.length === 0) return names as Scopes;
  throw new InvalidArgumentError(
    `Unknown scopes: ${unknown.join(", ")}. Allowed: ${SCOPES.join(", ")}, and such as approvals:finance.`,
  );
}

function wholeNumber(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number greater than 0.");
}
