// The page, and CopilotKit's runtime in between it and the teams: the key of a deployed Troupe stays here.
// It has no sign-in: whoever reaches it and knows the id of a team reaches the team.
// npm ci --prefix examples/copilotkit/page && npm run build --prefix examples/copilotkit/page
// npm start --prefix examples/copilotkit/page
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { HttpAgent } from "@ag-ui/client";
import { CopilotRuntime, InMemoryAgentRunner } from "@copilotkit/runtime/v2";
import { createCopilotNodeListener } from "@copilotkit/runtime/v2/node";

const { TROUPE_URL = "http://127.0.0.1:8787", TROUPE_KEY, PORT = "3000" } = process.env;
const headers = TROUPE_KEY === undefined ? {} : { authorization: `Bearer ${TROUPE_KEY}` };

/** The team that a thread is named after. */
class TeamAgent extends HttpAgent {
  constructor() {
    super({ url: TROUPE_URL, headers });
  }

  run(input) {
    this.url = `${TROUPE_URL}/ag-ui/teams/${encodeURIComponent(input.threadId)}`;
    return super.run(input);
  }
}

/** The teams hold the conversations: a page that is loaded gets them by a run without a new message. */
class TeamRunner extends InMemoryAgentRunner {
  connect({ threadId }) {
    const nothing = { messages: [], tools: [], context: [], state: {}, forwardedProps: {} };
    return new TeamAgent().run({ threadId, runId: crypto.randomUUID(), ...nothing });
  }
}

const copilotKit = createCopilotNodeListener({
  runtime: new CopilotRuntime({ agents: { default: new TeamAgent() }, runner: new TeamRunner() }),
  basePath: "/api/copilotkit",
});

async function newTeam() {
  const response = await fetch(`${TROUPE_URL}/v1/teams`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ template: "newsroom" }),
  });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()).id;
}

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

async function serve({ method, url }, response) {
  if (method === "POST" && url === "/team") return void response.end(await newTeam());
  const path = normalize(url === "/" ? "/index.html" : new URL(url, "http://page").pathname);
  const file = await readFile(join(import.meta.dirname, "public", path)).catch(() => undefined);
  if (file === undefined) return void response.writeHead(404).end();
  response.setHeader("content-type", TYPES[extname(path)] ?? "application/octet-stream");
  response.end(file);
}

createServer((request, response) => {
  if (request.url.startsWith("/api/copilotkit")) return void copilotKit(request, response);
  serve(request, response).catch((error) => response.writeHead(502).end(String(error)));
}).listen(Number(PORT), "127.0.0.1", () => console.log(`http://127.0.0.1:${PORT}`));
