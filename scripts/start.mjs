// `npm start`: Troupe on this machine, open to local requests only, with its state in .troupe/state. With `--auth` it takes
// credentials instead, as a deployed one.
//
// A front server listens on PORT and passes requests on to `wrangler dev` on an internal port. Code runs in a sandbox that is
// started as well, unless SANDBOX_URL names one. docs/configuration.md lists the settings; those of the Worker may also be
// in .dev.vars. Further arguments go to `wrangler dev`.

import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HELP, readArguments } from "./start/arguments.mjs";
import { authVars } from "./start/auth.mjs";
import { EgressProxy } from "./start/egress-proxy.mjs";
import { Front } from "./start/front.mjs";
import { greeting } from "./start/greeting.mjs";
import { watchParent } from "./start/parent.mjs";
import { freePort } from "./start/ports.mjs";
import { Sandbox } from "./start/sandbox.mjs";
import { readSettings } from "./start/settings.mjs";
import { State } from "./start/state.mjs";
import { unlistedTeams } from "./start/unlisted-teams.mjs";
import { Wrangler } from "./start/wrangler.mjs";

const HOST = "127.0.0.1";
const READY_WITHIN_MS = 90_000;
const GRACE_MS = 5_000;

const root = resolve(import.meta.dirname, "..");
/** The settings that configure credentials. */
const CREDENTIALS = ["API_KEYS", "OPERATOR_KEY_HASH", "JWT_ISSUER"];

const { auth, help, forWrangler } = await orFail(() => readArguments(process.argv.slice(2)));
if (help) {
  console.log(HELP);
  process.exit(0);
}
const settings = await orFail(() => readSettings(root, process.env, auth));
const { port, open } = settings;
const url = `http://${HOST}:${port}`;
const state = new State(settings.persistTo);
const target = await freePort(HOST);
await orFail(() => state.lock({ port, internal_port: target }));

const generated = auth ? state.credentials() : undefined;
const frontKey = randomBytes(32).toString("base64url");
const front = new Front({ host: HOST, port, target, key: frontKey, open });
await orFail(() => front.listen());

const egressProxy = open ? new EgressProxy(HOST) : undefined;
await egressProxy?.listen();

// A closed server behaves as a deployed one, which sends code to encrypted addresses only.
const sandbox =
  open && !settings.worker["SANDBOX_URL"] ? new Sandbox(root, state.sandbox) : undefined;
await sandbox?.start();
const sandboxReady = sandbox?.ready();

const unlisted = unlistedTeams(state.directory);

const wrangler = new Wrangler({
  root,
  host: HOST,
  port: target,
  state,
  vars: state.writeVars(workerVars()),
  args: forWrangler,
  publicUrl: url,
});
/** The exit code, once the server is being stopped. @type {number | undefined} */
let stopping;

wrangler.onEnd((why, code) => {
  if (stopping !== undefined) return;
  wrangler.showHeldOutput();
  console.error(why);
  void stop(code);
});
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
  process.on(signal, () => {
    // The second time there is no more grace.
    if (stopping !== undefined) signalAll("SIGKILL");
    void stop(0);
  });
}
process.on("exit", () => {
  signalAll("SIGKILL");
  state.removeVars();
});
// The reader of the output has ended (`npm start | head`).
process.stdout.on("error", () => void stop(0));
process.stderr.on("error", () => void stop(0));
watchParent(() => void stop(0));

if (await ready()) {
  const text = await greeting({
    url,
    open,
    credentials: CREDENTIALS.some((name) => settings.worker[name]),
    ...(generated && { generated }),
    sandbox: await whereCodeRuns(),
  });
  await loadTeams(unlisted);
  wrangler.showOutput();
  console.log(text);
}

/**
 * Loads teams, so that they are listed. One of another tenant than the key's is listed when it is used.
 *
 * @param {string[]} ids
 */
async function loadTeams(ids) {
  const headers = generated && { authorization: `Bearer ${generated.apiKey.key}` };
  for (const id of ids) {
    const response = await fetch(`${url}/v1/teams/${id}`, headers && { headers });
    await response.text();
  }
}

/** @returns {Record<string, string>} */
function workerVars() {
  const { fromEnvironment, worker } = settings;
  const key = worker["SECRETS_KEY"];
  if (key !== undefined && state.hasSecretsKey(key)) {
    console.error(
      `SECRETS_KEY is set, so ${state.directory}/secrets-key is not used: secrets stored with it cannot be read.`,
    );
  }
  return {
    ...fromEnvironment,
    TROUPE_OPEN: open ? "1" : "0",
    SECRETS_KEY: key ?? state.secretsKey(),
    TROUPE_FRONT_KEY: frontKey,
    ...(generated && authVars(generated)),
    ...(egressProxy && { TROUPE_EGRESS_PROXY: egressProxy.url }),
    ...(sandbox && { SANDBOX_URL: sandbox.url, SANDBOX_KEY: sandbox.key }),
  };
}

/** @param {"SIGTERM" | "SIGKILL"} signal */
function signalAll(signal) {
  wrangler.stop(signal);
  sandbox?.stop(signal);
}

/** @param {number} code */
async function stop(code) {
  if (stopping !== undefined) return;
  stopping = code;
  signalAll("SIGTERM");
  const deadline = Date.now() + GRACE_MS;
  while (anyLives() && Date.now() < deadline) await sleep(50);
  process.exit(code);
}

function anyLives() {
  return wrangler.lives || sandbox?.lives === true;
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
      // A reload takes longer than the timeout.
    }
    if (Date.now() > deadline) {
      wrangler.showHeldOutput();
      console.error(`The server did not answer ${url}/healthz within ${READY_WITHIN_MS / 1000} s.`);
      void stop(1);
    }
    await sleep(150);
  }
  return false;
}

async function whereCodeRuns() {
  const other = settings.worker["SANDBOX_URL"];
  if (other) return `Code of agents runs in the sandbox at ${other}.`;
  if (sandbox === undefined) return "Code of agents cannot be run: SANDBOX_URL is not set.";
  return (await sandboxReady)
    ? `Code of agents runs in a sandbox on this machine, process ${sandbox.pid}.`
    : "Code of agents cannot be run: the sandbox did not start.";
}

/**
 * @template T
 * @param {() => T | Promise<T>} action
 * @returns {Promise<T>}
 */
async function orFail(action) {
  try {
    return await action();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}
