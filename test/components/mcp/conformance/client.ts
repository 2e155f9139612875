import { HumanElicitor, McpSessionHost, McpWorkbench } from "troupe";
import type { JsonObject, McpServerParams } from "troupe";
import { RecordingHost } from "../../../core/support/recording-host.ts";
import { call } from "../support/calls.ts";

// The client that the official conformance suite starts for each scenario: an McpWorkbench that lists the tools of the server at
// the given address and calls each of them.

/** Arguments of the suite's tools; the others take none. */
const ARGUMENTS: { readonly [tool: string]: JsonObject } = { add_numbers: { a: 5, b: 3 } };

const url = process.argv.at(-1) as string;
const given = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as {
  client_id?: string;
  client_secret?: string;
  toolCalls?: { name: string; arguments: JsonObject }[];
};

/** The suite does not say who gave out the credentials: it is the issuer that its server names. */
async function oauth() {
  const { client_id, client_secret } = given;
  if (client_id === undefined || client_secret === undefined) return undefined;
  const { origin, pathname } = new URL(url);
  const response = await fetch(`${origin}/.well-known/oauth-protected-resource${pathname}`);
  const { authorization_servers } = (await response.json()) as { authorization_servers: [string] };
  return { clientId: client_id, clientSecret: client_secret, issuer: authorization_servers[0] };
}

const params: McpServerParams = {
  type: "StreamableHttpServerParams",
  url,
  timeout: 20,
  sseReadTimeout: 20,
  oauth: await oauth(),
};
const host = new RecordingHost();

/** Runs something with a workbench of its own, as a host does that builds the team again after a wait. */
async function using<T>(run: (workbench: McpWorkbench) => Promise<T>): Promise<T> {
  const elicitor = new HumanElicitor();
  const workbench = new McpWorkbench({
    serverParams: params,
    host: new McpSessionHost({ elicitor }),
  });
  try {
    return await run(workbench);
  } finally {
    await workbench.close();
  }
}

/** Those that the suite gives, or that its tools take. One is to be called with the schema of another, as the client has it. */
function argumentsOf(tool: string): JsonObject {
  const wanted = given.toolCalls?.find(({ name }) => name === tool)?.arguments;
  if (wanted !== undefined) return wanted;
  const other = tools.find(({ name }) => name !== tool);
  if (tool === "json_schema_echo") return { schema: other?.parameters as JsonObject };
  return ARGUMENTS[tool] ?? {};
}

/** Calls a tool, and again with the answer when its server asks something. */
async function callAnswering(tool: string): Promise<void> {
  try {
    await using((workbench) => call(workbench, tool, argumentsOf(tool), host));
  } catch (error) {
    const question = host.questions.at(-1);
    if (question === undefined || host.answers.has(question.id)) throw error;
    // Leaves all fields to their defaults.
    host.answers.set(question.id, { content: {} });
    await callAnswering(tool);
  }
}

const tools = await using((workbench) => workbench.listTools({ ctx: host.attempt() }));
for (const { name } of tools) await callAnswering(name);
