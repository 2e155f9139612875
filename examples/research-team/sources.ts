// An MCP server over streamable HTTP with one tool, which finds notes by their words: http://127.0.0.1:8791/mcp
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";

const NOTES = [
  "Vienna to Paris: the night train runs three times a week and takes 14 hours.",
  "Vienna to Paris: a flight takes 2 hours, and the ways to and from the airports 3 more.",
  "Night trains: a bed in a compartment for two costs about as much as a hotel room.",
  "Lisbon: the trams 12 and 28 climb the hills of the old town.",
];

const wordsOf = (text: string): string[] => text.toLowerCase().match(/\w{4,}/g) ?? [];

function sources(): McpServer {
  const server = new McpServer({ name: "sources", version: "1" });
  const description = "Finds notes about a subject by its words.";
  const inputSchema = z.object({ query: z.string() });
  server.registerTool("find_sources", { description, inputSchema }, ({ query }) => {
    const words = new Set(wordsOf(query));
    const found = NOTES.filter((note) => wordsOf(note).some((word) => words.has(word)));
    return { content: [{ type: "text", text: found.join("\n") || "There are no notes on this." }] };
  });
  return server;
}

const port = 8791;
const handle = toNodeHandler(createMcpHandler(sources));
createServer((request, response) => void handle(request, response)).listen(port, "127.0.0.1", () =>
  console.log(`The sources are at http://127.0.0.1:${port}/mcp`),
);
