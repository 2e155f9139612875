import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect } from "vitest";
import { McpWorkbench } from "troupe";
import { CHROMIUM, testInBrowser } from "../../support/browser.ts";
import { Sandbox } from "../../support/sandbox.ts";
import { call, textsOf } from "./support/calls.ts";

// A browser that a program of an MCP server starts in the sandbox, as Playwright's and Chrome's servers do.

/** A server with one tool, which opens an address in Chromium and answers with the page, or with the browser's errors. */
const SERVER = `const { execFile } = require("child_process");
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = (result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
  if (method === "initialize")
    return answer({ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "browser", version: "1" } });
  if (method === "tools/list") return answer({ tools: [{ name: "open", inputSchema: { type: "object" } }] });
  if (method !== "tools/call")
    return console.log(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "no such method" } }));
  const args = ["--headless", "--no-sandbox", "--disable-background-networking", "--dump-dom", params.arguments.url];
  execFile(process.argv[1], args, (error, page, said) =>
    answer({ isError: error !== null, content: [{ type: "text", text: error === null ? page : said.slice(-2000) }] }));
});`;

/** What the tool answers for each address. */
async function open(settings: Record<string, string>, ...urls: string[]) {
  await using sandbox = await Sandbox.start({ settings: { SANDBOX_MCP: "1", ...settings } });
  const serverParams = {
    type: "StdioServerParams",
    command: "node",
    args: ["-e", SERVER, CHROMIUM ?? ""],
    readTimeoutSeconds: 120,
  } as const;
  const address = { url: sandbox.url, apiKey: sandbox.key };
  const workbench = new McpWorkbench({ serverParams }, { sandbox: address });
  try {
    const opened = [];
    for (const url of urls) opened.push((await call(workbench, "open", { url })).result);
    return opened.map((result) => ({ failed: result.is_error, text: textsOf(result).join() }));
  } finally {
    await workbench.close();
  }
}

testInBrowser(
  "Chromium opens pages in the sandbox if it has enough memory and a network",
  async () => {
    const site = createServer((_, response) => {
      response.setHeader("content-type", "text/html").end("<h1>From a server</h1>");
    }).listen(0, "127.0.0.1");
    try {
      await once(site, "listening");
      const { port } = site.address() as AddressInfo;
      const settings = { SANDBOX_MEMORY_BYTES: "2000000000", SANDBOX_NETWORK: "1" };
      const pages = ["data:text/html,<h1>Here</h1>", `http://127.0.0.1:${port}/`];
      expect(await open(settings, ...pages)).toMatchObject([
        { failed: false, text: expect.stringContaining("<h1>Here</h1>") as string },
        { failed: false, text: expect.stringContaining("<h1>From a server</h1>") as string },
      ]);
    } finally {
      site.close();
    }
  },
);

testInBrowser(
  "a browser with too little memory is ended, and the error names the setting",
  async () => {
    const [result] = await open({ SANDBOX_MEMORY_BYTES: "150000000" }, "data:text/html,x");
    expect(result).toMatchObject({
      failed: true,
      text: expect.stringMatching(
        /^The program "node" was killed\. .*more than 150000000 bytes of memory\. The sandbox's SANDBOX_MEMORY_BYTES sets this limit\./,
      ) as string,
    });
  },
);
