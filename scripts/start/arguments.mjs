import { parseArgs } from "node:util";

/**
 * What the command line of `npm start` says.
 *
 * @typedef {object} Arguments
 * @property {boolean} auth whether the API takes credentials, which are generated
 * @property {boolean} help
 * @property {string[]} forWrangler all other arguments
 */

/** Its own options. @type {Record<string, { type: "boolean", short?: string }>} */
const OPTIONS = { auth: { type: "boolean" }, help: { type: "boolean", short: "h" } };

export const HELP = `npm start [-- OPTIONS]

Starts Troupe on this machine: the API on http://127.0.0.1:8787, its state in .troupe/state, and a sandbox for code.

  --auth      take credentials as a deployed server does. A first start generates an operator key and an API key for the
              tenant "local", and prints them; they are kept with the state. Code of agents needs a SANDBOX_URL then
  -h, --help  print this

All other options go to "wrangler dev", for example --config my-team/wrangler.toml.

In the environment:
  PORT         the port, 8787 by default
  PERSIST_TO   the directory of the state, .troupe/state by default
  TROUPE_OPEN  0 to take only the credentials that the settings name (API_KEYS, OPERATOR_KEY_HASH, JWT_ISSUER)

docs/configuration.md lists all settings, docs/keys.md describes credentials.`;

/**
 * @param {string[]} args of the command line
 * @returns {Arguments}
 * @throws Error for an option of `npm start` that has a value
 */
export function readArguments(args) {
  const { tokens } = parseArgs({ args, options: OPTIONS, strict: false, tokens: true });
  const ours = tokens
    .filter((token) => token.kind === "option")
    .filter(({ name }) => Object.hasOwn(OPTIONS, name));
  for (const { name, value } of ours) {
    if (value !== undefined) throw new Error(`--${name} takes no value; --help lists the options.`);
  }
  const named = new Set(ours.map(({ name }) => name));
  const indices = new Set(ours.map(({ index }) => index));
  return {
    auth: named.has("auth"),
    help: named.has("help"),
    forWrangler: args.filter((_, index) => !indices.has(index)),
  };
}
