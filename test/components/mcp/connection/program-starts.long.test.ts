import { expect, test } from "vitest";
import { McpWorkbench } from "troupe";
import type { McpServerParams } from "troupe";
import { RecordingHost } from "../../../core/support/recording-host.ts";
import { Sandbox } from "../../../support/sandbox.ts";
import { call, textsOf } from "../support/calls.ts";

/** Writes a letter into `starts` at each start, and is not what a server should be. */
function oddServer(odd: "slow" | "silent" | "exits"): McpServerParams {
  const program = `require("fs").appendFileSync("starts", "S");
  const begin = () => require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    const answer = (result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
    if (method === "initialize")
      return answer({ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "odd", version: "1" } });
    if (method === "tools/list") return answer({ tools: [{ name: "starts", inputSchema: { type: "object" } }] });
    if (method === "tools/call")
      return answer({ content: [{ type: "text", text: require("fs").readFileSync("starts", "utf8") }] });
    if (method === "server/discover" && ${JSON.stringify(odd)} === "exits") process.exit(1);
  });
  setTimeout(begin, ${odd === "slow" ? 7000 : 0});`;
  return { type: "StdioServerParams", command: "node", args: ["-e", program] };
}

/** How many tools the program has, and the starts that it has seen. */
async function use(odd: Parameters<typeof oddServer>[0]): Promise<[tools: number, starts: string]> {
  await using sandbox = await Sandbox.start({ settings: { SANDBOX_MCP: "1" } });
  const address = { url: sandbox.url, apiKey: sandbox.key };
  const workbench = new McpWorkbench({ serverParams: oddServer(odd) }, { sandbox: address });
  const tools = await workbench.listTools({ ctx: new RecordingHost().attempt() });
  const [starts = ""] = textsOf((await call(workbench, "starts", {})).result);
  await workbench.close();
  return [tools.length, starts];
}

test.each(["slow", "silent"] as const)(
  "a program that is %s about the protocol's version is started once",
  async (odd) => expect(await use(odd)).toEqual([1, "S"]),
);

test("a program that ends when it is asked for the protocol's version speaks the older one", async () => {
  expect(await use("exits")).toEqual([1, expect.stringMatching(/^S+$/)]);
});
