import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { packageRoot, pageForUser } from "../terminal/package-root.ts";
import { requireNodeWithSqlite } from "../server/process/node-version.ts";
import { reportError } from "../terminal/report-error.ts";
import { CliError, EXIT } from "../terminal/errors.ts";

const MB = 1_000_000;

/** Runs a built Worker on a machine of one's own. */
export function serveCommand(): Command {
  return new Command("serve")
    .summary("run a built Worker as a server")
    .description(
      "Runs a built Worker in workerd, without wrangler: in a project what `troupe build` wrote to dist, elsewhere the Worker of this package. It requires keys, which the first start generates, prints once and keeps with the state. Its log is lines of JSON.",
    )
    .option("--host <address>", "the address to listen on", "127.0.0.1")
    .option("--port <port>", "the port; default: PORT, or 8787", port)
    .option("--state <directory>", "where the state is; default: PERSIST_TO, or .troupe/state")
    .option(
      "--env-file <file>",
      "a file with settings and secrets of the Worker; repeatable",
      (file: string, files: string[]) => [...files, file],
      [],
    )
    .option(
      "--behind-proxy",
      "take the address of a client from the last entry of X-Forwarded-For, which a proxy adds",
    )
    .option("--sandbox <directory>", "the folder of the sandbox, which is started with the server")
    .option("--no-sandbox", "start no sandbox")
    .option(
      "--python <path>",
      "run Python code and tools in the sandbox with this virtual environment (its folder) or interpreter",
    )
    .option(
      "--max-memory <MB>",
      "restart the Worker when it takes more memory; its runs continue",
      megabytes,
    )
    .option(
      "--min-free-disk <MB>",
      "refuse requests that write while the disk with the state has less space",
      megabytes,
      0,
    )
    .addHelpText(
      "after",
      `
Settings of the Worker come from the environment and from --env-file; ${pageForUser("configuration.md")} lists them.
${pageForUser("self-hosting.md")} describes a server with TLS, a sandbox and backups.

Example:
  $ npx troupe serve --host 0.0.0.0 --state /var/lib/troupe --env-file /etc/troupe.env`,
    )
    .action(async (options: Options) => {
      try {
        await requireNodeWithSqlite();
        const root = process.cwd();
        const { PORT, PERSIST_TO } = process.env;
        const limit = options.maxMemory;
        if (limit !== undefined) requireProc();
        const directory = sandboxDirectory(options.sandbox);
        const [{ startServer }, { SandboxProcess }] = await Promise.all([
          import("../serve/serve.ts"),
          import("../server/process/sandbox-process.ts"),
        ]);
        await startServer({
          root,
          host: options.host,
          port: options.port ?? (PORT ? port(PORT) : 8787),
          state: options.state ?? (PERSIST_TO || ".troupe/state"),
          envFile: options.envFile,
          behindProxy: options.behindProxy === true,
          leastFreeBytes: options.minFreeDisk * MB,
          maxMemoryBytes: limit === undefined ? undefined : limit * MB,
          python: options.python,
          sandbox:
            directory === undefined
              ? undefined
              : (data, log, python) => new SandboxProcess({ directory, data, python, log }),
        });
      } catch (error) {
        // The server's parts would keep the process alive.
        process.exit(reportError(error, false));
      }
    });
}

interface Options {
  host: string;
  port?: number;
  state?: string;
  envFile: string[];
  behindProxy?: true;
  /** False for `--no-sandbox`. */
  sandbox?: string | false;
  python?: string;
  maxMemory?: number;
  minFreeDisk: number;
}

function port(text: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= 1 && number <= 65_535) return number;
  throw new InvalidArgumentError("It must be a port, a number from 1 to 65535.");
}

function megabytes(text: string): number {
  if (/^\d{1,9}$/.test(text) && Number(text) > 0) return Number(text);
  throw new InvalidArgumentError("It must be a whole number of megabytes, at least 1.");
}

/** A clone has the sandbox; the package does not. @throws CliError */
function sandboxDirectory(given: string | false | undefined): string | undefined {
  if (given === false) return undefined;
  const directory = given === undefined ? join(packageRoot, "sandbox") : resolve(given);
  if (existsSync(join(directory, "main.ts"))) return directory;
  if (given === undefined) return undefined;
  throw new CliError(
    `--sandbox: ${directory} is not the folder of the sandbox: it has no main.ts.`,
    {
      exitCode: EXIT.usage,
      code: "usage",
    },
  );
}

function requireProc(): void {
  if (existsSync("/proc/self/status")) return;
  throw new CliError("--max-memory reads /proc, which this system does not have.", {
    exitCode: EXIT.usage,
    code: "usage",
  });
}
