/**
 * @typedef {object} GreetingOptions
 * @property {string} url of the server
 * @property {boolean} open whether the API is open to local requests
 * @property {boolean} credentials whether the settings name any credential
 * @property {string} sandbox where code runs
 */

/**
 * What `npm start` prints once the server is ready.
 *
 * @param {GreetingOptions} options
 */
export async function greeting({ url, open, credentials, sandbox }) {
  const lines = [`Troupe is running: ${url}   API: ${url}/v1/openapi.json`, sandbox, ""];
  if (open) lines.push(...templateLines(await fetchTemplates(url)), ...exampleLines(url));
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
