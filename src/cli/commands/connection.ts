import { trimEnd } from "../../core/text/trim-end.ts";
import { type Command, Option } from "commander";
import {
  ApiError,
  ConnectionError,
  type TransportOptions,
  TroupeClient,
} from "../../client/index.ts";
import { CommandSender } from "../../client/http/commands.ts";
import { Transport } from "../../client/http/transport.ts";
import type { Server } from "../backup/server.ts";
import { CliError, EXIT } from "../terminal/errors.ts";

/** The options of every command that calls a server. */
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
      new Option("--url <url>", "URL of the server")
        .env("TROUPE_URL")
        .default("http://127.0.0.1:8787"),
    )
    .addOption(new Option("--key <key>", "API key or token").env("TROUPE_API_KEY"))
    .addOption(
      new Option(
        "--tenant <tenant>",
        "tenant to act in, with an operator key or on an open local server",
      ).env("TROUPE_TENANT"),
    )
    .option("--json", "print JSON, one value per line");
}

/**
 * Calls `use` with a client, and turns its errors into messages for the user.
 *
 * @throws CliError
 */
export function connect(
  options: ConnectionOptions,
  use: (client: TroupeClient) => Promise<void>,
): Promise<void> {
  return connectTransport(options, (transport) => use(new TroupeClient(transport)));
}

/** Retries of a request of a backup: a busy server should not interrupt it. */
const PATIENT_RETRIES = 8;

/**
 * Calls `use` with all commands of a server and the tenant of the credential, as {@link connect} does.
 *
 * @throws CliError
 */
export function connectServer(
  options: ConnectionOptions,
  use: (server: Server) => Promise<void>,
): Promise<void> {
  return connectTransport(options, async (transport) => {
    const patient = new Transport({ ...transport, maxRetries: PATIENT_RETRIES });
    const commands = new CommandSender(patient, {});
    const { tenant, kind } = await commands.json("GET /v1/whoami", {});
    if (tenant === "") {
      throw new CliError(
        "The operator's key acts in the tenant that --tenant or TROUPE_TENANT names, and neither does.",
        { exitCode: EXIT.usage, code: "tenant_required" },
      );
    }
    await use({ url: trimEnd(options.url, "/"), commands, tenant, kind });
  });
}

async function connectTransport(
  { url, key, tenant }: ConnectionOptions,
  use: (transport: TransportOptions) => Promise<void>,
): Promise<void> {
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : "")) {
    throw new CliError(
      `"${url}" is not the URL of a server: --url and TROUPE_URL take one such as https://troupe.example.com.`,
      { exitCode: EXIT.usage, code: "invalid_url" },
    );
  }
  const options: TransportOptions = {
    baseURL: url,
    ...(key && { token: key }),
    ...(tenant && { fetch: fetchAs(tenant) }),
  };
  await checkServer(options);
  try {
    await use(options);
  } catch (error) {
    if (error instanceof ConnectionError) throw unreachable(url);
    if (error instanceof ApiError) throw refused(error, key);
    throw error;
  }
}

/** @throws CliError when another program answers at the URL */
async function checkServer(options: TransportOptions): Promise<void> {
  const { baseURL } = options;
  try {
    const answer: unknown = await new TroupeClient({ ...options, maxRetries: 0 }).whoami();
    if (typeof answer === "object" && answer !== null && "tenant" in answer) return;
  } catch (error) {
    // A problem document comes from Troupe, and the command gets the same one. A server that cannot be reached may still start.
    if (error instanceof ConnectionError && !(error.cause instanceof SyntaxError)) return;
    if (error instanceof ApiError && error.code !== UNEXPECTED) return;
    if (error instanceof ApiError && error.status >= 500) {
      throw new CliError(
        `The server at ${baseURL} answered ${error.status}, but not with a response of Troupe. A proxy in front of it may not reach it.`,
        { exitCode: EXIT.unreachable, code: "unreachable" },
      );
    }
  }
  throw new CliError(
    `The server at ${baseURL} is not Troupe: it does not serve ${trimEnd(new URL(baseURL).pathname, "/")}/v1/whoami as Troupe does. Check --url or TROUPE_URL, and the path if Troupe is mounted under one.`,
    { exitCode: EXIT.unreachable, code: "no_troupe" },
  );
}

/** The code that the client gives to a response that is not a problem document. */
const UNEXPECTED = "unexpected_response";

function fetchAs(tenant: string): (request: Request) => Promise<Response> {
  return (request) => {
    request.headers.set("troupe-tenant", tenant);
    return fetch(request);
  };
}

function unreachable(url: string): CliError {
  const local = ["127.0.0.1", "localhost", "[::1]"].includes(new URL(url).hostname);
  const hint = local
    ? 'Is it running? Start it with "npm start", or name another server with --url or TROUPE_URL.'
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
