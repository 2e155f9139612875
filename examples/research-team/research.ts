// A researcher who finds sources by an MCP server, and a writer who answers from them:
// npx node examples/research-team/research.ts QUESTION [--model gpt-5-mini]
import { parseArgs } from "node:util";
import { TroupeClient } from "troupe/client";
import { withModel } from "../support/with-model.ts";
import component from "./team.json" with { type: "json" };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { model: { type: "string" } },
});
const [question] = positionals;
if (question === undefined) throw new Error("Usage: research.ts QUESTION [--model NAME]");

const client = new TroupeClient({ baseURL: process.env["TROUPE_URL"] ?? "http://127.0.0.1:8787" });
const team = await client.teams.create({ component: withModel(component, values.model) });
for await (const item of team.run(question)) {
  if (item.kind !== "message") continue;
  const { message } = item;
  if (message.type === "TextMessage") console.log(`${message.source}: ${message.content}`);
  if (message.type === "ToolCallRequestEvent") {
    for (const { name, arguments: given } of message.content) {
      console.log(`${message.source} calls ${name} with ${given}`);
    }
  }
  if (message.type === "ToolCallExecutionEvent") {
    for (const { name, content } of message.content) console.log(`${name} finds:\n${content}`);
  }
}
