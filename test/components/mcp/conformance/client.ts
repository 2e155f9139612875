import { HumanElicitor, McpSessionHost, McpWorkbench } from "troupe";
import type { JsonObject, McpServerParams } from "troupe";
import { RecordingHost } from "../../../core/support/recording-host.ts";
import { call } from "../support/calls.ts";
import { TestLogins } from "../support/test-logins.ts";

// The client that the official conformance suite starts for each scenario: an McpWorkbench that lists the tools of the server at
// the given address and calls each of them. A human logs in where the server wants a login.

/** Arguments of the suite's tools; the others take none. */
const ARGUMENTS: { readonly [tool: string]: JsonObject } = { add_numbers: { a: 5, b: 3 } };

const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const url = process.argv.at(-1) as string;
const given = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as {
  client_id?: string;
  client_secret?: string;
  private_key_pem?: string;
  signing_algorithm?: "ES256";
  issuer?: string;
  toolCalls?: { name: string; arguments: JsonObject }[];
};

/** The suite does not say who gave out the credentials: it is the issuer that its server names. */
async function oauth() {
  const { client_id, client_secret, private_key_pem, signing_algorithm } = given;
  if (!scenario.startsWith("auth/client-credentials-") || client_id === undefined) return undefined;
  const { origin, pathname } = new URL(url);
  const response = await fetch(`${origin}/.well-known/oauth-protected-resource${pathname}`);
  const { authorization_servers } = (await response.json()) as { authorization_servers: [string] };
  return {
    clientId: client_id,
    ...(client_secret !== undefined && { clientSecret: client_secret }),
    ...(private_key_pem !== undefined && { privateKey: private_key_pem }),
    ...(signing_algorithm !== undefined && { signingAlgorithm: signing_algorithm }),
    issuer: authorization_servers[0],
  };
}

const params: McpServerParams = {
  type: "StreamableHttpServerParams",
  url,
  timeout: 120,
  sseReadTimeout: 120,
  oauth: await oauth(),
};
const host = new RecordingHost();
const { client_id, client_secret, issuer } = given;
const logins = new TestLogins({
  clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
  ...(client_id !== undefined &&
    client_secret !== undefined && {
      registered: { client_id, client_secret, ...(issuer !== undefined && { issuer }) },
    }),
});
if (params.oauth === undefined) host.logins = logins;

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

/** Runs something, and again with the answer when its server asks something or wants a login. */
async function answering<T>(run: (workbench: McpWorkbench) => Promise<T>): Promise<T> {
  try {
    return await using(run);
  } catch (error) {
    const question = host.questions.at(-1);
    if (question === undefined || host.answers.has(question.id)) throw error;
    const login = question.login?.url ?? null;
    if (login !== null) await logins.logIn(login);
    // Leaves all fields to their defaults.
    host.answers.set(question.id, { content: {} });
    return answering(run);
  }
}

const tools = await answering((workbench) => workbench.listTools({ ctx: host.attempt() }));
for (const { name } of tools) {
  await answering((workbench) => call(workbench, name, argumentsOf(name), host));
}
