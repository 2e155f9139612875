// Stands in for Slack on this machine: prints the messages that come to http://127.0.0.1:8790.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

interface Message {
  blocks: { type: string; text?: { text: string } }[];
}

const port = 8790;

async function show(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { blocks } = JSON.parse(await text(request)) as Message;
  for (const block of blocks) console.log(block.text?.text ?? "");
  response.end("ok");
}

createServer((request, response) => void show(request, response)).listen(port, "127.0.0.1", () =>
  console.log(`Messages to http://127.0.0.1:${port} appear here.`),
);
