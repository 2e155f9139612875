import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { packageRoot, pageForUser } from "../terminal/package-root.ts";
import type { LocalKey, LocalKeys } from "../server/state/generated-keys.ts";

export interface GreetingOptions {
  /** The server's URL. */
  url: string;
  /** The directory of the project. */
  root: string;
  /** True if the API is at this URL, not below a path that the project chose. */
  api: boolean;
  /** True if the API is open to local requests. */
  open: boolean;
  /** True if the settings name any credential. */
  credentials: boolean;
  /** The keys that `--auth` generated. */
  keys: LocalKeys | undefined;
  /** The isolation in which code runs. */
  sandbox: string;
  /** The port of the inspector. */
  inspect: number | undefined;
}

/** The text that the server prints once it is ready. */
export async function greeting(options: GreetingOptions): Promise<string> {
  const { url, api, open, credentials, keys, sandbox, inspect } = options;
  const console = (await hasConsole(url)) ? " (open it in a browser)" : "";
  const apiAddress = api ? `${url}/v1/openapi.json` : "below its basePath";
  const first = `Troupe is running: ${url}${console}   API: ${apiAddress}`;
  const lines = [first];
  // Only the Worker knows the path: its router decides which requests createTroupe gets.
  if (!api) {
    lines.push(
      `The basePath is the one in the Worker's createTroupe({ basePath }). With "/agents", the API is at ${url}/agents/v1/openapi.json and its health at ${url}/agents/healthz.`,
    );
  }
  lines.push(sandbox);
  if (inspect !== undefined)
    lines.push(
      `The inspector of the Worker is open: 127.0.0.1:${inspect}. It does not check origins: any web page in a browser on this machine can read the Worker's secrets through it.`,
    );
  lines.push("");
  if (open && api) lines.push(...templateLines(await fetchTemplates(url), options));
  else if (open) lines.push("It is open to requests from this machine.");
  else if (keys) lines.push(...keyLines(url, keys));
  else if (credentials)
    lines.push(`The API requires credentials (TROUPE_OPEN=0); see ${pageForUser("keys.md")}.`);
  else
    lines.push(
      `The API is closed (TROUPE_OPEN=0): only /healthz answers; see ${pageForUser("keys.md")}.`,
    );
  lines.push(
    "",
    `Ctrl-C stops it; kill -9 ${process.pid} kills it. Runs continue where they were at the next start.`,
    "",
  );
  return lines.join("\n");
}

interface Template {
  name: string;
  description: string;
  task?: string;
}

function templateLines(templates: Template[], { url, root }: GreetingOptions): string[] {
  const [first] = templates;
  if (first === undefined) return [];
  const width = Math.max(...templates.map(({ name }) => name.length));
  return [
    "Templates:",
    ...templates.map(({ name, description }) => `  ${name.padEnd(width)}  ${brief(description)}`),
    "",
    "Try (no key needed):",
    ...(root === packageRoot ? [] : [`  npx troupe run demo "Hello" --template ${first.name}`]),
    ...curlLines(url, first),
  ];
}

/** The first sentence of a template's description, and the one that begins with "Needs". */
function brief(description: string): string {
  const [first = "", ...others] = description.split(/(?<=\.)\s+/);
  return [first, ...others.filter((sentence) => sentence.startsWith("Needs "))].join(" ");
}

/** Creates a team and runs it. */
function curlLines(url: string, { name, task = "Hello" }: Template): string[] {
  const json = "-H 'content-type: application/json'";
  const body = JSON.stringify({ task }).replaceAll("'", String.raw`'\''`);
  return [
    `  curl ${url}/v1/teams ${json} -d '{"template":"${name}","id":"demo"}'`,
    `  curl -N ${url}/v1/teams/demo/runs ${json} -H 'accept: text/event-stream' -d '${body}'`,
  ];
}

/** Prints new keys only, because terminals keep a history. */
function keyLines(url: string, { operatorKey, apiKey }: LocalKeys): string[] {
  const keyText = ({ key, file, generated }: LocalKey): string =>
    generated ? `${key}   (kept in ${file})` : `in ${file}`;
  return [
    `The API requires credentials (--auth); see ${pageForUser("keys.md")}.`,
    `  API key of the tenant "local", all scopes: ${keyText(apiKey)}`,
    `  Operator key:                              ${keyText(operatorKey)}`,
    "The Worker gets only their hashes, and only you can read the files.",
    "",
    "Try:",
    `  curl ${url}/v1/whoami -H "authorization: Bearer ${apiKey.generated ? apiKey.key : `$(cat '${apiKey.file}')`}"`,
  ];
}

/** True if the project serves the console. `fetch` cannot pass for a navigation. */
async function hasConsole(url: string): Promise<boolean> {
  const request = get(url, { headers: { accept: "text/html" }, timeout: 10_000 });
  request.on("timeout", () => request.destroy());
  try {
    const [{ statusCode, headers }] = (await once(request, "response")) as [IncomingMessage];
    return statusCode === 200 && headers["content-type"]?.includes("text/html") === true;
  } catch {
    return false;
  } finally {
    request.destroy();
  }
}

async function fetchTemplates(url: string): Promise<Template[]> {
  try {
    const response = await fetch(`${url}/v1/templates`, { signal: AbortSignal.timeout(10_000) });
    const { templates } = (await response.json()) as { templates?: Template[] };
    return templates ?? [];
  } catch {
    return [];
  }
}
