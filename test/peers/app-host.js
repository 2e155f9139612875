// A host of MCP Apps, as a script of a page: the official client of MCP, and the bridge that ext-apps has for hosts.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

const INFO = { name: "host", version: "1" };
const UI = { mimeTypes: ["text/html;profile=mcp-app"] };

/** What has happened between the page of the tool and the host: calls, opened links, heights, and the result of the host's own call. */
const log = { calls: [], links: [], heights: [], result: undefined };
let bridge;

/** Calls a tool and shows its page beside the call. `mode` is the revision of MCP that the client speaks, `names` whether the host tells the page which tool it is. */
async function show({ name, arguments: given, context = {}, mode = "legacy", names = true }) {
  const client = new Client(INFO, {
    capabilities: { extensions: { "io.modelcontextprotocol/ui": UI } },
    versionNegotiation: { mode },
  });
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", location.origin)));
  const { tools } = await client.listTools();
  const tool = tools.find((one) => one.name === name);
  const { contents } = await client.readResource({ uri: tool._meta.ui.resourceUri });

  const frame = document.createElement("iframe");
  // The strictest that lets a script run: no origin, no forms, no other windows.
  frame.setAttribute("sandbox", "allow-scripts");
  frame.title = "The page of the tool";
  document.body.append(frame);
  const hostContext = { ...(names && { toolInfo: { tool } }), ...context };
  bridge = new AppBridge(client, INFO, { openLinks: {}, serverTools: {} }, { hostContext });
  const initialized = new Promise((resolve) => {
    bridge.oninitialized = resolve;
  });
  bridge.onsizechange = ({ height = 0 }) => {
    log.heights.push(height);
    frame.style.height = `${height}px`;
  };
  bridge.onopenlink = async ({ url }) => {
    log.links.push(url);
    return {};
  };
  const { contentWindow } = frame;
  await bridge.connect(new PostMessageTransport(contentWindow, contentWindow));
  addEventListener("message", ({ source, data }) => {
    if (source === contentWindow && data.method === "tools/call") log.calls.push(data.params);
  });
  frame.srcdoc = contents[0].text;
  await initialized;
  await bridge.sendToolInput({ arguments: given });
  const called = client.callTool({ name, arguments: given });
  void called.then((result) => {
    log.result = result;
    return bridge.sendToolResult(result);
  });
}

Object.assign(globalThis, {
  show,
  log,
  changeContext: (context) => bridge.setHostContext(context),
  teardown: () => bridge.teardownResource({}),
});
