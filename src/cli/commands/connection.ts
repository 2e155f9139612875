import { type Command, Option } from "commander";
import { ApiError, ConnectionError, TroupeClient } from "../../client/index.ts";
import { CliError, EXIT } from "../errors.ts";

/** The options of every command that asks a server. */
export interface ConnectionOptions {
  url: string;
  key?: string;
  tenant?: string;
  json?: true;
}

/** Adds them to a command. */
export function withConnection(command: Command): Command {
  return command
    .addOption(
      new Option("--url <url>", "of the server").env("TROUPE_URL").default("http://127.0.0.1:8787"),
    )
    .addOption(new Option("--key <key>", "API key or token").env("TROUPE_API_KEY"))
    .addOption(
      new Option("--tenant <tenant>", "to act in, with an operator key").env("TROUPE_TENANT"),
    )
    .option("--json", "print JSON, one value per line");
}

/**
 * Calls `use` with a client, and turns its errors into what the user is told.
 *
 * @throws CliError
 */
export async function connect(
  { url, key, tenant }: ConnectionOptions,
  use: (client: TroupeClient) => Promise<void>,
): Promise<void> {
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : "")) {
    throw new CliError(
      `"${url}" is not the URL of a server: --url and TROUPE_URL take one such as https://troupe.example.com.`,
      { exitCode: EXIT.usage, code: "invalid_url" },
    );
  }
  // The reader of the output has ended (`troupe logs | head`).
  process.stdout.on("error", () => process.exit(EXIT.done));
  try {
    await use(
      new TroupeClient({
        baseURL: url,
        ...(key && { token: key }),
        ...(tenant && { fetch: fetchAs(tenant) }),
      }),
    );
  } catch (error) {
    if (error instanceof ConnectionError) throw unreachable(url);
    if (error instanceof ApiError) throw refused(error, key);
    throw error;
  }
}

function fetchAs(tenant: string): (request: Request) => Promise<Response> {
  return (request) => {
    request.headers.set("troupe-tenant", tenant);
    return fetch(request);
  };
}

function unreachable(url: string): CliError {
  const local = ["127.0.0.1", "localhost", "[::1]"].includes(new URL(url).hostname);
  const hint = local
    ? 'Is it running? "npm start" starts it; --url or TROUPE_URL names another server.'
    : "Check --url or TROUPE_URL.";
  return new CliError(`The server at ${url} cannot be reached. ${hint}`, {
    exitCode: EXIT.unreachable,
    code: "unreachable",
  });
}

function refused({ status, code, problem }: ApiError, key: string | undefined): CliError {
  const hint = key ? "" : " Give a key with --key or TROUPE_API_KEY.";
  return new CliError(problem.detail + (status === 401 ? hint : ""), {
    code,
    issues: problem.errors ?? [],
  });
}
