import { Command, InvalidArgumentError, Option } from "commander";
import type { DevServerOptions } from "../dev/dev-server.ts";
import { pageForUser } from "../terminal/package-root.ts";
import { requireNodeWithSqlite } from "../server/process/node-version.ts";
import { CliError, EXIT } from "../terminal/errors.ts";
import { reportError } from "../terminal/report-error.ts";

/** Runs the Worker of a project on this machine. */
export function devCommand({
  root,
  sandbox,
}: Pick<DevServerOptions, "root"> & Partial<Pick<DevServerOptions, "sandbox">>): Command {
  return new Command("dev")
    .summary("run the project's Worker on this machine")
    .usage("[options] [options of wrangler dev]")
    .description(
      "Starts the Worker of wrangler.toml on this machine: the API on http://127.0.0.1:8787, open to local requests only, and its state in .troupe/state.",
    )
    .option(
      "--auth",
      'require credentials as a deployed server does: generates an operator key and an API key of the tenant "local", prints them once and stores them with the state.',
    )
    .option(
      "--python <path>",
      "run Python code and tools with this virtual environment (its folder) or interpreter, in processes behind the walls of the sandbox. SANDBOX_NETWORK=1 gives them the network",
    )
    .addOption(
      new Option(
        "--inspect [port]",
        "open the Worker's inspector for debuggers, on 127.0.0.1. Any web page in a browser on this machine can use it too",
      )
        .preset("9229")
        .argParser(readPort),
    )
    .allowUnknownOption()
    .allowExcessArguments()
    .addHelpText(
      "after",
      `
All other options are passed to "wrangler dev", except those that open ports.

In the environment:
  PORT         the port, 8787 by default
  PERSIST_TO   the directory of the state, .troupe/state by default
  TROUPE_OPEN  0 to take only the credentials that the settings name (API_KEYS, OPERATOR_KEY_HASH, JWT_ISSUER)

${pageForUser("configuration.md")} lists all settings, ${pageForUser("keys.md")} describes credentials.

Example:
  $ PORT=8080 npx troupe dev --config other/wrangler.toml`,
    )
    .action(async ({ auth = false, inspect, python }: Options, { args }: Command) => {
      try {
        requireUsable(args);
        await requireNodeWithSqlite();
        const { startDevServer } = await import("../dev/dev-server.ts");
        await startDevServer({ root, auth, inspect, wranglerArguments: args, python, sandbox });
      } catch (error) {
        // The server's parts would keep the process alive.
        process.exit(reportError(error, false));
      }
    });
}

interface Options {
  auth?: boolean;
  inspect?: number;
  python?: string;
}

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new InvalidArgumentError("It must be a port, a number from 1 to 65535.");
}

/** Options of wrangler that open unprotected ports. */
const OPENS_PORT = /^--(ip|port|inspector-(ip|port)|tunnel(-name)?)(=|$)/;

/** @throws CliError */
function requireUsable(args: readonly string[]): void {
  const usage = { exitCode: EXIT.usage, code: "usage" };
  // With a value, it would be read as an option of wrangler.
  if (args.some((argument) => argument.startsWith("--auth=")))
    throw new CliError("--auth takes no value.", usage);
  const opens = OPENS_PORT.exec(args.find((argument) => OPENS_PORT.test(argument)) ?? "");
  if (opens !== null)
    throw new CliError(
      `wrangler's --${opens[1]} is not available: the server listens on 127.0.0.1 only. Set its port with PORT, and open the inspector with --inspect=PORT.`,
      usage,
    );
}
