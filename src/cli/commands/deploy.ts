import { createInterface } from "node:readline/promises";
import { Command } from "commander";
import { secretHosts } from "../../secrets/secret-hosts.ts";
import {
  compareTables,
  type ComparedTables,
  explainTables,
  isRetreat,
} from "../deploy/deployed-tables.ts";
import { DeploymentKeys } from "../deploy/deployment-keys.ts";
import { checkFirstRun, makeFirstKey, operatorClient, waitForHealth } from "../deploy/first-run.ts";
import { Wrangler } from "../deploy/wrangler.ts";
import { readSettings } from "../server/settings.ts";
import { CliError, EXIT } from "../terminal/errors.ts";
import { printJson, printLine } from "../terminal/output.ts";
import { pageForUser } from "../terminal/package-root.ts";
import { isInteractive } from "../terminal/questions.ts";

interface DeployOptions {
  env?: string;
  tenant: string;
  url?: string;
  dryRun?: true;
  yes?: true;
  json?: true;
}

/** @param root the folder of the project */
export function deployCommand({ root }: { root: string }): Command {
  return new Command("deploy")
    .summary("deploy the project to Cloudflare")
    .description(
      "Deploys the project to Cloudflare with wrangler: checks the account, sets the secrets that are missing, adds dynamic Workers where the plan has them, waits until the API answers and a first run has ended, and prints the address and the first key.",
    )
    .option("--env <name>", "the environment of the configuration, such as staging")
    .option("--tenant <tenant>", "the tenant of the first key", "main")
    .option("--url <url>", "the address, where wrangler does not name it")
    .option("--dry-run", "build the Worker and say what would be set, and change nothing")
    .option(
      "--yes",
      "send the model keys that the environment has, and deploy over newer tables, without asking",
    )
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
It can be repeated: secrets that the Worker has stay as they are. The operator's key and SECRETS_KEY are kept in
.troupe/deploy, for you alone. Keep a copy of them. Before it deploys, it compares the stored tables of the deployed
version with those of this one, and says what a rollback cannot undo.

Example:
  $ npx troupe deploy --env staging`,
    )
    .action((options: DeployOptions) => deploy(root, options));
}

async function deploy(root: string, options: DeployOptions): Promise<void> {
  const { env, dryRun, json } = options;
  const wrangler = new Wrangler({ root, env });
  const isLoggedIn = await chooseAccount(wrangler, options);
  const known = isLoggedIn ? await wrangler.secrets() : [];
  const keys = new DeploymentKeys(root, env);
  const { sent, left } = await modelKeys(root, known, options);
  const secrets = { ...keys.missing(known, { write: !dryRun }), ...sent };
  const names = Object.keys(secrets);
  const deployedAt = (options.url ?? keys.url)?.replace(/\/$/, "");
  const tables = await tablesAt(deployedAt);
  if (dryRun) {
    const loader = await wrangler.dryRun();
    if (json) {
      const { changes } = tables;
      return printJson({
        dry_run: true,
        logged_in: isLoggedIn,
        loader,
        secrets: names,
        tables: changes,
      });
    }
    if (loader === "add") {
      printLine(
        `The binding LOADER would be added, with which JavaScript of agents runs in dynamic Workers, if the plan has them (Workers Paid); see ${pageForUser("javascript-tools.md")}.`,
      );
    }
    printLine(`Secrets that would be set: ${names.join(", ") || "none"}.`);
    return;
  }
  await agreeToTables(tables, options);
  const { worker, url: target, loader } = await wrangler.deploy(secrets);
  const url = (options.url ?? target)?.replace(/\/$/, "");
  if (url === undefined) {
    throw new CliError(
      "The Worker was deployed, but wrangler names no address of it. Give it with --url.",
      { code: "no_address" },
    );
  }
  const { code } = await waitForHealth(url);
  keys.url = url;
  // A run that is refused would say nothing about the deployment.
  const first = isRetreat(tables) ? { ran: false } : await check(url, keys, options);
  if (json) {
    const { changes } = tables;
    printJson({
      url,
      worker,
      code,
      loader,
      secrets: names,
      tables: changes,
      ...first,
      keys_file: keys.file,
    });
    return;
  }
  printLine(`Troupe is deployed: ${url} (open it in a browser)`);
  if (names.length > 0) printLine(`Secrets that were set: ${names.join(", ")}.`);
  for (const name of left) {
    printLine(`${name} was not sent. To set it: npx wrangler secret put ${name}`);
  }
  if (first.key !== undefined) {
    printLine(
      `API key of the tenant "${options.tenant}", all scopes, shown this once: ${first.key}`,
    );
  }
  if (loader === "added") {
    printLine(
      `JavaScript of agents runs in dynamic Workers (the binding LOADER was added); see ${pageForUser("javascript-tools.md")}.`,
    );
  }
  if (loader === "refused") {
    printLine(
      `JavaScript of agents does not run in dynamic Workers, which the account's plan does not have (Workers Paid has them); see ${pageForUser("javascript-tools.md")}.`,
    );
  }
  if (code === "off") {
    printLine(
      `Its agents run no code yet: ${pageForUser("code-execution.md")} shows dynamic Workers, containers and a sandbox of your own.`,
    );
  }
  if (!first.ran) {
    printLine(
      isRetreat(tables)
        ? "No run was tried, because the stored data may be refused."
        : "No run was tried: the operator's key is not here.",
    );
  }
  printLine(`The operator's key and SECRETS_KEY, of which you need a copy, are in ${keys.file}`);
}

/** Compares the tables of what is deployed at an address, and says what a rollback cannot undo. */
async function tablesAt(url: string | undefined): Promise<ComparedTables> {
  // Nothing is deployed yet, as far as this machine knows.
  if (url === undefined) return { known: true, changes: [] };
  const tables = await compareTables(url);
  const text = explainTables(tables, url);
  if (text !== undefined) process.stderr.write(`${text}\n`);
  return tables;
}

/** @throws CliError unless the user agrees to what was said about the tables, or nothing stops by it */
async function agreeToTables(tables: ComparedTables, { yes }: DeployOptions): Promise<void> {
  if (tables.changes.length === 0 || yes) return;
  if (isInteractive()) {
    if (/^y/i.test(await ask("Deploy? (y/n) "))) return;
  } else if (!isRetreat(tables)) {
    return;
  }
  throw new CliError(
    "Nothing was deployed: the tables of the deployed version differ. Use --yes to deploy without this question.",
    {
      exitCode: EXIT.usage,
      code: "tables_differ",
    },
  );
}

/** The first key, and whether a run was tried. Without the operator's key there is neither. */
async function check(
  url: string,
  keys: DeploymentKeys,
  { tenant }: DeployOptions,
): Promise<{ key?: string; ran: boolean }> {
  const { operatorKey } = keys;
  if (operatorKey === undefined) return { ran: false };
  const client = operatorClient(url, operatorKey, tenant);
  await checkFirstRun(client, url);
  if (keys.hasFirstKey) return { ran: true };
  const { id, key } = await makeFirstKey(client, url);
  keys.firstKey = id;
  return { key, ran: true };
}

/** @returns whether there is a login, which a dry run does not need @throws CliError without one */
async function chooseAccount(wrangler: Wrangler, { dryRun }: DeployOptions): Promise<boolean> {
  let accounts = await wrangler.accounts();
  if (accounts === undefined && dryRun) return false;
  if (accounts === undefined) {
    if (!isInteractive()) throw notLoggedIn();
    await wrangler.logIn();
    accounts = await wrangler.accounts();
  }
  if (accounts === undefined) throw notLoggedIn();
  if (accounts.length < 2 || wrangler.namesAccount) return true;
  const list = accounts.map(({ id, name }, index) => `  ${index + 1}  ${name}  ${id}`).join("\n");
  if (!isInteractive()) {
    throw new CliError(
      `The login has several accounts. Name one with CLOUDFLARE_ACCOUNT_ID:\n${list}`,
      { exitCode: EXIT.usage, code: "several_accounts" },
    );
  }
  const chosen = accounts[Number(await ask(`Accounts:\n${list}\nNumber: `)) - 1];
  if (chosen === undefined) {
    throw new CliError(`Choose a number from 1 to ${accounts.length}.`, { exitCode: EXIT.usage });
  }
  wrangler.account = chosen.id;
  return true;
}

/** The model keys of the environment and of `.dev.vars` that the Worker lacks, as far as the user agrees. */
async function modelKeys(
  root: string,
  known: readonly string[],
  { yes, dryRun }: DeployOptions,
): Promise<{ sent: Record<string, string>; left: string[] }> {
  const { worker } = readSettings(root, process.env);
  const sent: Record<string, string> = {};
  const left: string[] = [];
  for (const name of secretHosts(worker).keys()) {
    const value = worker[name];
    if (!value || known.includes(name)) continue;
    const asks = !yes && !dryRun && isInteractive();
    if (yes || (asks && /^y/i.test(await ask(`Send ${name} to the Worker? (y/n) `))))
      sent[name] = value;
    else left.push(name);
  }
  return { sent, left };
}

async function ask(text: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(text)).trim();
  } finally {
    terminal.close();
    // An open input would keep the process alive.
    process.stdin.pause();
  }
}

function notLoggedIn(): CliError {
  return new CliError(
    'There is no login at Cloudflare. Run "npx wrangler login", or set CLOUDFLARE_API_TOKEN.',
    { code: "not_logged_in" },
  );
}
