import { Command, InvalidArgumentError } from "commander";
import type { CreateKey } from "../../client/index.ts";
import { SCOPES } from "../../contract/constants.ts";
import { printJson, printLine } from "../terminal/output.ts";
import { connect, type ConnectionOptions, withConnection } from "./connection.ts";

type Scopes = NonNullable<CreateKey["scopes"]>;

export function keysCommand(): Command {
  return new Command("keys")
    .description("Creates, lists and revokes API keys.")
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
    .description("Lists the created keys, without their secrets.")
    .addHelpText("after", "\nExample:\n  $ npx troupe keys list")
    .action(async (options: ConnectionOptions) => {
      await connect(options, async (client) => {
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

function revokeCommand(): Command {
  const command = new Command("revoke")
    .description("Revokes a key.")
    .argument("<id>", 'id of the key, from "troupe keys list"')
    .addHelpText("after", "\nExample:\n  $ npx troupe keys revoke k_8sJq2")
    .action(async (id: string, options: ConnectionOptions) => {
      await connect(options, async (client) => {
        await client.keys.revoke(id);
        if (options.json) printJson({ revoked: id });
        else printLine(`Key ${id} is revoked; it stops working within 10 seconds.`);
      });
    });
  return withConnection(command);
}

function scopes(list: string): Scopes {
  const names = list.split(",").map((name) => name.trim());
  const unknown = names.filter((name) => !(SCOPES as readonly string[]).includes(name));
  if (unknown.length === 0) return names as Scopes;
  throw new InvalidArgumentError(
    `Unknown scopes: ${unknown.join(", ")}. Allowed: ${SCOPES.join(", ")}.`,
  );
}

function wholeNumber(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number greater than 0.");
}
