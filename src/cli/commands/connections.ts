import { Command } from "commander";
import type { ConnectionInfo } from "../../client/index.ts";
import { printJson, printLine } from "../terminal/output.ts";
import { connect, type ConnectionOptions, withConnection } from "./connection.ts";

interface AddOptions extends ConnectionOptions {
  user?: string;
  scope?: string;
  clientId?: string;
  clientSecret?: string;
  issuer?: string;
}

export function connectionsCommand(): Command {
  return new Command("connections")
    .description("Adds, lists and deletes connections to MCP servers that need a login.")
    .addCommand(addCommand())
    .addCommand(listCommand())
    .addCommand(deleteCommand());
}

function addCommand(): Command {
  const command = new Command("add")
    .description(
      "Begins a login at an MCP server and prints the URL of its page, which a human opens.",
    )
    .argument("<server>", "URL of the MCP server")
    .option("--user <user>", "the user whose runs use it; runs without a user by default")
    .option(
      "--scope <scopes>",
      "scopes separated by spaces; those that the server names by default",
    )
    .option("--client-id <id>", "a client that the authorization server knows")
    .option("--client-secret <secret>", "its secret, or env:NAME; needs --issuer")
    .option("--issuer <url>", "the authorization server that knows the client")
    .addHelpText("after", "\nExample:\n  $ npx troupe connections add https://mcp.example.com/mcp")
    .action(async (server: string, options: AddOptions) => {
      await connect(options, async (client) => {
        const { user, scope, clientId, clientSecret, issuer } = options;
        const started = await client.connections.create({
          server,
          ...(user !== undefined && { user }),
          ...(scope !== undefined && { scope }),
          ...(clientId !== undefined && { client_id: clientId }),
          ...(clientSecret !== undefined && { client_secret: clientSecret }),
          ...(issuer !== undefined && { issuer }),
        });
        if (options.json) {
          printJson(started);
          return;
        }
        // Only the URL goes to stdout, so that a script can capture it.
        printLine(started.authorization_url);
        process.stderr.write(
          `Open this URL in a browser and log in. It works once, until ${started.expires_at}.\n`,
        );
      });
    });
  return withConnection(command);
}

function listCommand(): Command {
  const command = new Command("list")
    .description("Lists the connections, without their tokens.")
    .addHelpText("after", "\nExample:\n  $ npx troupe connections list")
    .action(async (options: ConnectionOptions) => {
      await connect(options, async (client) => {
        let cursor: string | undefined;
        do {
          const page = await client.connections.list(cursor === undefined ? {} : { cursor });
          for (const connection of page.connections) {
            if (options.json) printJson(connection);
            else printLine(lineOf(connection));
          }
          cursor = page.next_cursor ?? undefined;
        } while (cursor !== undefined);
      });
    });
  return withConnection(command);
}

function lineOf({ id, server, status, user, scope }: ConnectionInfo): string {
  const others = [user === null ? null : `user ${user}`, scope];
  return [id, server, status, ...others.filter((one) => one !== null)].join("  ");
}

function deleteCommand(): Command {
  const command = new Command("delete")
    .description("Forgets a connection with its tokens, at once and without asking.")
    .argument("<id>", 'id of the connection, from "troupe connections list"')
    .addHelpText("after", "\nExample:\n  $ npx troupe connections delete 4f1c0a")
    .action(async (id: string, options: ConnectionOptions) => {
      await connect(options, async (client) => {
        await client.connections.delete(id);
        if (options.json) printJson({ deleted: id });
        else printLine(`Connection ${id} is deleted.`);
      });
    });
  return withConnection(command);
}
