import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import * as z from "zod";
import { beginningOf } from "../../core/cut.ts";
import { CliError } from "../terminal/errors.ts";
import { loaderPlan, type LoaderPlan, mayRefuseLoader, withLoader } from "./loader-binding.ts";

const CONFIGS = ["wrangler.toml", "wrangler.jsonc", "wrangler.json"];

/** The answers of wrangler about a Worker that does not exist. */
const NOT_DEPLOYED = /\bWorker "[^"]*"[^\n]* not found|\bcode: (?:10007|10090)\b/;

const accountSchema = z.object({ id: z.string(), name: z.string() });
const whoamiSchema = z.object({ loggedIn: z.boolean(), accounts: z.array(accountSchema) });
const secretsSchema = z.array(z.object({ name: z.string() }));
const deploySchema = z.object({
  type: z.literal("deploy"),
  worker_name: z.string().nullable(),
  version_id: z.string().nullish(),
  targets: z.array(z.string()).nullish(),
});

type Account = z.output<typeof accountSchema>;

/** The result of a deployment by wrangler. */
interface Deployed {
  worker: string | null;
  /** Its address; undefined if wrangler names none. */
  url: string | undefined;
  /** The binding for dynamic Workers: `refused` if Cloudflare took the Worker only without it. */
  loader: "configured" | "added" | "refused" | "unused";
}

interface WranglerOptions {
  /** The folder of the project. */
  root: string;
  /** The environment of the configuration. */
  env: string | undefined;
}

/** The program `wrangler` of a project. */
export class Wrangler {
  readonly #root: string;
  readonly #env: string | undefined;
  readonly #target: readonly string[];
  /** The account, if one was chosen among several. */
  account: string | undefined;

  /** @throws CliError for a folder without a configuration */
  constructor({ root, env }: WranglerOptions) {
    this.#root = root;
    this.#env = env;
    this.#target = env === undefined ? [] : ["--env", env];
    if (this.#config !== undefined) return;
    throw new CliError(
      `${root} has no ${CONFIGS[0]}. Run this command in a project: "npx troupe init" makes one.`,
      { code: "no_project" },
    );
  }

  /** True if the configuration or the environment names the account. */
  get namesAccount(): boolean {
    const config = readFileSync(this.#config ?? "", "utf8");
    return (
      Boolean(process.env["CLOUDFLARE_ACCOUNT_ID"]) ||
      /^[ \t]*"?account_id"?[ \t]*[=:]/m.test(config)
    );
  }

  /** The accounts of the login; undefined without one. */
  async accounts(): Promise<Account[] | undefined> {
    const { code, output } = await this.#capture(["whoami", "--json"]);
    if (code !== 0) return undefined;
    const { loggedIn, accounts } = parsed(whoamiSchema, output, "wrangler whoami --json");
    return loggedIn ? accounts : undefined;
  }

  /** Logs in, in a browser. @throws CliError */
  async logIn(): Promise<void> {
    if ((await this.#show(["login"])) !== 0) {
      throw new CliError("wrangler login did not succeed.", { code: "not_logged_in" });
    }
  }

  /**
   * The names of the Worker's secrets; none for a Worker that was not deployed yet.
   *
   * @throws CliError where they cannot be known: another SECRETS_KEY would make stored data unreadable
   */
  async secrets(): Promise<string[]> {
    const command = ["secret", "list", "--format", "json", ...this.#target];
    const { code, output, errors } = await this.#capture(command);
    if (code === 0) {
      return parsed(secretsSchema, output, "wrangler secret list").map(({ name }) => name);
    }
    if (NOT_DEPLOYED.test(output + errors)) return [];
    throw new CliError(
      `wrangler secret list did not succeed, so nothing was deployed: ${beginningOf(errors || output, 1_000)}`,
      { code: "unknown_secrets" },
    );
  }

  /** Builds the Worker without deploying it. @returns what a deployment does about dynamic Workers @throws CliError */
  async dryRun(): Promise<LoaderPlan> {
    const plan = loaderPlan(this.#project);
    const tried = (more: string[]): Promise<number | null> =>
      this.#show(["deploy", "--dry-run", ...this.#target, ...more]);
    const code =
      plan === "add"
        ? await withLoader(this.#project, (config) => tried(["--config", config]))
        : await tried([]);
    if (code !== 0) throw deployFailed();
    return plan;
  }

  /**
   * Deploys the Worker with these secrets, besides those that it has, and with dynamic Workers where the plan has them.
   *
   * @throws CliError
   */
  async deploy(secrets: Readonly<Record<string, string>>): Promise<Deployed> {
    const plan = loaderPlan(this.#project);
    const folder = await mkdtemp(join(tmpdir(), "troupe-deploy-"));
    // Ctrl-C ends wrangler. This process then removes its files.
    process.on("SIGINT", ignore);
    try {
      const args: string[] = [];
      if (Object.keys(secrets).length > 0) {
        const file = join(folder, "secrets.json");
        await writeFile(file, JSON.stringify(secrets), { mode: 0o600 });
        args.push("--secrets-file", file);
      }
      if (plan === "add") {
        const { failed, lines } = await withLoader(this.#project, (config) =>
          this.#deploy(["--config", config, ...args], folder),
        );
        if (!failed) return { ...deployedIn(lines), loader: "added" };
        if (!mayRefuseLoader(lines)) throw deployFailed();
        process.stderr.write(
          "Cloudflare may refuse the binding LOADER, because dynamic Workers need Workers Paid: the Worker is deployed without it.\n",
        );
      }
      const { failed, lines } = await this.#deploy(args, folder);
      if (failed) throw deployFailed();
      return { ...deployedIn(lines), loader: plan === "add" ? "refused" : plan };
    } finally {
      process.off("SIGINT", ignore);
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** @returns whether it failed, and the lines that it wrote for programs */
  async #deploy(
    args: readonly string[],
    folder: string,
  ): Promise<{ failed: boolean; lines: unknown[] }> {
    const file = join(await mkdtemp(join(folder, "output-")), "lines.ndjson");
    const code = await this.#show(["deploy", ...this.#target, ...args], {
      WRANGLER_OUTPUT_FILE_PATH: file,
    });
    const text = existsSync(file) ? await readFile(file, "utf8") : "";
    return { failed: code !== 0, lines: text.split("\n").map(parseJson) };
  }

  get #project(): Parameters<typeof loaderPlan>[0] {
    return { root: this.#root, config: this.#config ?? "", env: this.#env };
  }

  get #config(): string | undefined {
    return CONFIGS.map((name) => join(this.#root, name)).find((file) => existsSync(file));
  }

  /** Shows what it prints on stderr: stdout is for what this command prints. */
  async #show(args: readonly string[], more: Record<string, string> = {}): Promise<number | null> {
    const child = this.#spawn(args, ["inherit", process.stderr, process.stderr], more);
    return exitCode(child);
  }

  async #capture(
    args: readonly string[],
  ): Promise<{ code: number | null; output: string; errors: string }> {
    const child = this.#spawn(args, ["ignore", "pipe", "pipe"], {});
    let output = "";
    let errors = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      errors += text;
    });
    return { code: await exitCode(child), output, errors };
  }

  #spawn(
    args: readonly string[],
    stdio: Parameters<typeof spawn>[2]["stdio"],
    more: Record<string, string>,
  ): ReturnType<typeof spawn> {
    const { PATH = "" } = process.env;
    return spawn("wrangler", args, {
      cwd: this.#root,
      stdio,
      shell: process.platform === "win32",
      env: {
        ...process.env,
        // That of the project comes first.
        PATH: [join(this.#root, "node_modules", ".bin"), PATH].join(delimiter),
        ...(this.account !== undefined && { CLOUDFLARE_ACCOUNT_ID: this.account }),
        ...more,
      },
    });
  }
}

async function exitCode(child: ReturnType<typeof spawn>): Promise<number | null> {
  try {
    const [code] = (await once(child, "close")) as [number | null];
    return code;
  } catch (error) {
    throw new CliError(
      `wrangler cannot be started: ${(error as Error).message}. Install it with "npm install --save-dev wrangler".`,
      { code: "no_wrangler" },
    );
  }
}

function deployedIn(lines: readonly unknown[]): Omit<Deployed, "loader"> {
  for (const line of lines) {
    const { data } = deploySchema.safeParse(line);
    if (data === undefined) continue;
    const urls = (data.targets ?? []).flatMap((target) => addressOf(target) ?? []);
    return { worker: data.worker_name, url: urls[0] };
  }
  return { worker: null, url: undefined };
}

/** Targets are URLs, or domains such as `agents.example.com (custom domain)`; others are schedules and queues. */
function addressOf(target: string): string | undefined {
  if (/^https?:\/\/\S+$/.test(target)) return target;
  const [, domain] = /^([a-z0-9.-]+\.[a-z]+) \(custom domain/i.exec(target) ?? [];
  return domain && `https://${domain}`;
}

function ignore(): void {}

/** wrangler may print notices before its JSON. @throws CliError */
function parsed<T>(schema: z.ZodType<T>, output: string, command: string): T {
  const start = output.search(/[[{]/);
  const { data, error } = schema.safeParse(parseJson(start < 0 ? "" : output.slice(start)));
  if (error === undefined) return data;
  throw new CliError(
    `"${command}" printed something that is not expected: ${beginningOf(output, 200)}`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function deployFailed(): CliError {
  return new CliError("wrangler deploy did not succeed; its output says why.", {
    code: "deploy_failed",
  });
}
