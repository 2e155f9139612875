/** @typedef {import("./auth.mjs").Credentials} Credentials */

/**
 * @typedef {object} GreetingOptions
 * @property {string} url of the server
 * @property {boolean} open whether the API is open to local requests
 * @property {boolean} credentials whether the settings name any credential
 * @property {Credentials} [generated] the keys of `--auth`
 * @property {string} sandbox where code runs
 */

/**
 * What `npm start` prints once the server is ready.
 *
 * @param {GreetingOptions} options
 */
export async function greeting({ url, open, credentials, generated, sandbox }) {
  const lines = [`Troupe is running: ${url}   API: ${url}/v1/openapi.json`, sandbox, ""];
  if (open) lines.push(...templateLines(await fetchTemplates(url)), ...exampleLines(url));
  else if (generated) lines.push(...keyLines(url, generated));
  else if (credentials)
    lines.push("The API takes credentials only (TROUPE_OPEN=0); see docs/keys.md.");
  else lines.push("The API is closed (TROUPE_OPEN=0): only /healthz answers; see docs/keys.md.");
  lines.push(
    "",
    `Ctrl-C stops it; kill -9 ${process.pid} kills it. At the next start, runs continue where they were.`,
    "",
  );
  return lines.join("\n");
}

/** @param {{ name: string, description: string }[]} templates */
function templateLines(templates) {
  if (templates.length === 0) return [];
  const width = Math.max(...templates.map(({ name }) => name.length));
  return [
    "Templates:",
    ...templates.map(
      ({ name, description }) => `  ${name.padEnd(width)}  ${description.split("\n")[0]}`,
    ),
    "",
  ];
}

/** @param {string} url */
function exampleLines(url) {
  const json = "-H 'content-type: application/json'";
  return [
    "Try (no key needed):",
    `  curl ${url}/v1/teams ${json} -d '{"template":"code_runner","id":"demo"}'`,
    `  curl -N ${url}/v1/teams/demo/runs ${json} -H 'accept: text/event-stream' -d '{"task":"\`\`\`python\\nprint(6 * 7)\\n\`\`\`"}'`,
  ];
}

/**
 * Prints new keys only, because terminals keep their output.
 *
 * @param {string} url
 * @param {Credentials} keys
 */
function keyLines(url, { operatorKey, apiKey }) {
  /** @param {Credentials["apiKey"]} key */
  const shown = ({ key, file, generated }) =>
    generated ? `${key}   (kept in ${file})` : `in ${file}`;
  return [
    "The API takes credentials only (--auth); see docs/keys.md.",
    `  API key of the tenant "local", all scopes: ${shown(apiKey)}`,
    `  Operator key:                              ${shown(operatorKey)}`,
    "Only their hashes are given to the Worker; the files can be read by you alone.",
    "",
    "Try:",
    `  curl ${url}/v1/whoami -H "authorization: Bearer ${apiKey.generated ? apiKey.key : `$(cat '${apiKey.file}')`}"`,
  ];
}

/**
 * @param {string} url
 * @returns {Promise<{ name: string, description: string }[]>}
 */
async function fetchTemplates(url) {
  try {
    const response = await fetch(`${url}/v1/templates`, { signal: AbortSignal.timeout(10_000) });
    const { templates } = /** @type {any} */ (await response.json());
    return Array.isArray(templates) ? templates : [];
  } catch {
    return [];
  }
}
