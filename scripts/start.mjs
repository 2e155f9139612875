// `npm start`: Troupe on this machine, open to local requests only, with its state kept in .troupe/state.
//
//   PORT=8787  PERSIST_TO=.troupe/state  OPENAI_API_KEY  OPENAI_BASE_URL  OPENAI_MODEL  SANDBOX_URL  SANDBOX_KEY
//
// Code runs in a sandbox that is started, too, unless SANDBOX_URL names one.
//
// Further arguments go to `wrangler dev`. Settings for the Worker may also stand in .dev.vars.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { toEnvFile } from "./start/env-file.mjs";
import { watchParent } from "./start/parent.mjs";
import { whyNotFree } from "./start/ports.mjs";
import { groupLives, signalGroup } from "./start/process-group.mjs";
import { Sandbox } from "./start/sandbox.mjs";

const HOST = "127.0.0.1";
const READY_WITHIN_MS = 90_000;
const GRACE_MS = 5_000;
/** Read from the environment and handed on to the Worker as secrets. */
const HANDED_ON = [
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "OPENAI_MODEL",
  "SANDBOX_URL",
  "SANDBOX_KEY",
];
/** What wrangler logs of our own questions. */
const OWN_REQUEST = /GET \/(healthz|v1\/templates) 200/;

const root = resolve(import.meta.dirname, "..");

if (Number(process.versions.node.split(".")[0]) < 22) {
  fail(`Node ${process.versions.node} is too old: start with \`npm start\`, which brings its own.`);
}

const port = readPort(process.env.PORT);
const state = resolve(root, process.env.PERSIST_TO || ".troupe/state");
const url = `http://${HOST}:${port}`;

await refuseTakenPort();
mkdirSync(state, { recursive: true, mode: 0o700 });
const sandbox =
  otherSandbox() === undefined ? new Sandbox(root, join(state, "sandbox")) : undefined;
await sandbox?.start();
// A file, because arguments and environments can be read by others; wrangler reads it again on each reload.
const varsFile = join(state, `vars.${port}.env`);
const varsMark = `# written by process ${process.pid}\n`;
writeFileSync(varsFile, varsMark + toEnvFile(workerVars()), { mode: 0o600 });

const wrangler = startWrangler();
const sandboxReady = sandbox?.ready();
/** What wrangler says before it is ready: of interest only if that never happens. @type {string[] | undefined} */
let held = [];
forward(wrangler.stdout, process.stdout);
forward(wrangler.stderr, process.stderr);
/** Set once we are stopping, to the exit code. @type {number | undefined} */
let stopping;

wrangler.on("error", (error) => {
  console.error(`wrangler did not start: ${error.message}`);
  void stop(1);
});
wrangler.on("close", (code) => {
  if (stopping !== undefined) return;
  tellWhatWasHeld();
  console.error("The server stopped by itself.");
  void stop(code || 1);
});
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
  process.on(signal, () => {
    // Asked a second time: no more grace.
    if (stopping !== undefined) killGroups("SIGKILL");
    void stop(0);
  });
}
process.on("exit", () => {
  killGroups("SIGKILL");
  removeVars();
});
// Whoever reads our output is gone (`npm start | head`).
process.stdout.on("error", () => void stop(0));
process.stderr.on("error", () => void stop(0));
watchParent(() => void stop(0));

if (await ready()) await greet();

/** The address of the sandbox that somebody else runs, if one was named. */
function otherSandbox() {
  if (process.env.SANDBOX_URL) return process.env.SANDBOX_URL;
  const file = join(root, ".dev.vars");
  if (!existsSync(file)) return undefined;
  return /^\s*SANDBOX_URL\s*=\s*["']?(\S+?)["']?\s*$/m.exec(readFileSync(file, "utf8"))?.[1];
}

/** Unless another start has put its own there: the port is free a little before this process ends. */
function removeVars() {
  if (existsSync(varsFile) && readFileSync(varsFile, "utf8").startsWith(varsMark)) rmSync(varsFile);
}

/** @param {string | undefined} text */
function readPort(text) {
  if (text === undefined || text === "") return 8787;
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < 1 || number > 65_535) {
    fail(`PORT is "${text}": it must be a number from 1 to 65535.`);
  }
  return number;
}

async function refuseTakenPort() {
  const error = await whyNotFree(HOST, port);
  if (error?.code === "EADDRINUSE") {
    fail(`Port ${port} is taken. Stop what listens there, or choose another: PORT=8788 npm start`);
  }
  if (error !== undefined) fail(`Cannot listen on ${HOST}:${port}: ${error.message}`);
}

/** @returns {Record<string, string>} */
function workerVars() {
  /** @type {Record<string, string>} */
  const vars = { TROUPE_OPEN: "1", SECRETS_KEY: secretsKey() };
  for (const name of HANDED_ON) {
    const value = process.env[name];
    if (value) vars[name] = value;
  }
  if (sandbox !== undefined)
    Object.assign(vars, { SANDBOX_URL: sandbox.url, SANDBOX_KEY: sandbox.key });
  return vars;
}

/** The key that secrets in stored components are encrypted with: it belongs to the state, so it lies in it. */
function secretsKey() {
  const file = join(state, "secrets-key");
  if (!existsSync(file)) {
    try {
      writeFileSync(file, `${randomBytes(32).toString("base64")}\n`, { mode: 0o600, flag: "wx" });
    } catch (error) {
      // Another start on the same state made it first.
      if (!existsSync(file)) throw error;
    }
  }
  return readFileSync(file, "utf8").trim();
}

function startWrangler() {
  const userVars = existsSync(join(root, ".dev.vars")) ? ["--env-file", ".dev.vars"] : [];
  // prettier-ignore
  const args = [
    "dev", "--ip", HOST, "--port", String(port), "--persist-to", state,
    ...userVars, "--env-file", varsFile,
    "--show-interactive-dev-session=false", "--no-minify",
    // Any free one: wrangler's own search for one is a race when two servers start.
    "--inspector-port", "0",
    ...process.argv.slice(2),
  ];
  const killedWithUs = join(import.meta.dirname, "start/end-with-parent.mjs");
  return spawn(
    process.execPath,
    ["--import", killedWithUs, join(root, "node_modules/wrangler/bin/wrangler.js"), ...args],
    {
      cwd: root,
      // Its own process group, so that esbuild and workerd can be ended with it.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        WRANGLER_SEND_METRICS: "false",
        WRANGLER_SEND_ERROR_REPORTS: "false",
        WRANGLER_HIDE_BANNER: "true",
        WRANGLER_NO_SKILLS_UPDATE_PROMPTS: "true",
        // Nothing here reads Request.cf: do not ask the network for a sample of it.
        CLOUDFLARE_CF_FETCH_ENABLED: "false",
        ...(process.stdout.isTTY && { FORCE_COLOR: "1" }),
      },
    },
  );
}

/**
 * @param {import("node:stream").Readable} from
 * @param {NodeJS.WriteStream} to
 */
function forward(from, to) {
  createInterface({ input: from }).on("line", (line) => {
    if (held === undefined) {
      if (!OWN_REQUEST.test(line)) to.write(`${line}\n`);
      return;
    }
    held.push(line);
    // A Worker that does not compile: wrangler waits until it is mended, and so do we.
    if (/\bERROR\b/.test(line)) tellWhatWasHeld();
  });
}

function tellWhatWasHeld() {
  if (held !== undefined && held.length > 0) console.error(held.join("\n"));
  held = undefined;
}

/** @param {"SIGTERM" | "SIGKILL"} signal */
function killGroups(signal) {
  signalGroup(wrangler, signal);
  sandbox?.stop(signal);
}

/** @param {number} code */
async function stop(code) {
  if (stopping !== undefined) return;
  stopping = code;
  killGroups("SIGTERM");
  const deadline = Date.now() + GRACE_MS;
  while (somebodyLives() && Date.now() < deadline) await sleep(50);
  process.exit(code);
}

function somebodyLives() {
  return groupLives(wrangler) || sandbox?.lives === true;
}

async function ready() {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (stopping === undefined) {
    try {
      const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(5_000) });
      // Read to its end: workerd complains loudly about answers that are broken off.
      await response.text();
      if (response.ok) return true;
    } catch {
      // Not listening yet.
    }
    if (Date.now() > deadline) {
      tellWhatWasHeld();
      console.error(`The server did not answer ${url}/healthz within ${READY_WITHIN_MS / 1000} s.`);
      void stop(1);
    }
    await sleep(150);
  }
  return false;
}

async function greet() {
  const codeRuns = await whereCodeRuns();
  const lines = [`Troupe is running: ${url}   API: ${url}/v1/openapi.json`, codeRuns, ""];
  const templates = await fetchTemplates();
  if (templates.length > 0) {
    const width = Math.max(...templates.map(({ name }) => name.length));
    lines.push("Templates:");
    for (const { name, description } of templates) {
      lines.push(`  ${name.padEnd(width)}  ${description.split("\n")[0]}`);
    }
    lines.push("");
  }
  const json = "-H 'content-type: application/json'";
  lines.push(
    "Try (no key needed):",
    `  curl ${url}/v1/teams ${json} -d '{"template":"code_runner","id":"demo"}'`,
    `  curl -N ${url}/v1/teams/demo/runs ${json} -H 'accept: text/event-stream' -d '{"task":"\`\`\`python\\nprint(6 * 7)\\n\`\`\`"}'`,
    "",
    `Ctrl-C stops it; kill -9 ${process.pid} kills it. At the next start, runs go on where they were.`,
    "",
  );
  held = undefined;
  console.log(lines.join("\n"));
}

async function whereCodeRuns() {
  if (sandbox === undefined) return `Code of agents runs in the sandbox at ${otherSandbox()}.`;
  return (await sandboxReady)
    ? `Code of agents runs in a sandbox on this machine, process ${sandbox.pid}.`
    : "Code of agents cannot be run: the sandbox did not start.";
}

/** @returns {Promise<{ name: string, description: string }[]>} */
async function fetchTemplates() {
  try {
    const response = await fetch(`${url}/v1/templates`, { signal: AbortSignal.timeout(10_000) });
    const { templates } = /** @type {any} */ (await response.json());
    return Array.isArray(templates) ? templates : [];
  } catch {
    return [];
  }
}

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  console.error(message);
  process.exit(1);
}
