/** An example of a program that uses a team. */
export interface CodeSample {
  /** The name of the language or protocol. */
  name: string;
  title: string;
  code: string;
  /** The language of the code, for its colours. */
  language: string;
}

/** The calls that use a team, for each interface of the server. */
export function callsOf(origin: string, team: string): CodeSample[] {
  return [
    {
      name: "curl",
      title: "Run a task and wait for the result",
      language: "bash",
      code: `curl '${origin}/v1/teams/${team}/runs?wait=60' \\
  -H "Authorization: Bearer $TROUPE_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"task": "Hello."}'`,
    },
    {
      name: "TypeScript",
      title: "Stream a run with the npm package",
      language: "typescript",
      code: `import { TroupeClient } from "troupe/client";

const client = new TroupeClient({
  baseURL: "${origin}",
  token: process.env.TROUPE_API_KEY,
});
for await (const item of client.team("${team}").run("Hello.")) {
  if (item.kind === "message") console.log(item.message.source, item.message.content);
}`,
    },
    {
      name: "OpenAI",
      title: "Use the team as a model of OpenAI's API",
      language: "typescript",
      code: `import OpenAI from "openai";

const openai = new OpenAI({
  baseURL: "${origin}/openai/v1",
  apiKey: process.env.TROUPE_API_KEY,
});
const response = await openai.responses.create({ model: "${team}", input: "Hello." });
console.log(response.output_text);`,
    },
    {
      name: "MCP",
      title: "Use the team as a tool of an MCP client",
      language: "json",
      code: JSON.stringify(
        {
          mcpServers: {
            troupe: {
              type: "http",
              url: `${origin}/mcp/teams/${team}`,
              headers: { Authorization: "Bearer ${TROUPE_API_KEY}" },
            },
          },
        },
        null,
        2,
      ),
    },
    {
      name: "AG-UI",
      title: "Use the team as an agent of a frontend",
      language: "typescript",
      code: `import { HttpAgent } from "@ag-ui/client";

const agent = new HttpAgent({
  url: "${origin}/ag-ui/teams/${team}",
  headers: { Authorization: \`Bearer \${teamToken}\` },
});
agent.addMessage({ id: crypto.randomUUID(), role: "user", content: "Hello." });
await agent.runAgent();`,
    },
  ];
}
