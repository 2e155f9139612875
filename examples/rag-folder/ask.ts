// Puts the Markdown files of a folder into a collection, and asks an agent that answers from them and cites them:
// npx node examples/rag-folder/ask.ts FOLDER QUESTION [--model gpt-5-mini]
import { readdir, readFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { parseArgs } from "node:util";
import { TroupeClient } from "troupe/client";
import { withModel } from "../support/with-model.ts";
import agent from "./agent.json" with { type: "json" };

/** The one that agent.json names. */
const COLLECTION = "handbook";

interface Citation {
  document: string;
  chunk: number;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { model: { type: "string" } },
});
const [folder, question] = positionals;
if (folder === undefined || question === undefined) {
  throw new Error("Usage: ask.ts FOLDER QUESTION [--model NAME]");
}

const client = new TroupeClient({ baseURL: process.env["TROUPE_URL"] ?? "http://127.0.0.1:8787" });

const paths = await readdir(folder, { recursive: true });
const pages = paths.filter((path) => path.endsWith(".md")).toSorted();
for (const path of pages) {
  // A document that is put again replaces the earlier one. Ids have no slashes.
  await client.collections.putDocument(COLLECTION, path.replaceAll(sep, "~"), {
    content: await readFile(join(folder, path), "utf8"),
    type: "text/markdown",
    title: path,
  });
}
console.log(`Documents in the collection: ${pages.join(", ")}`);

const team = await client.teams.create({ component: withModel(agent, values.model) });
const { messages } = await team.run(question).result();
const answer = messages.findLast((message) => message.type === "TextMessage");
console.log(`\n${answer?.source}: ${answer?.content}`);

const citations = JSON.parse(answer?.metadata["citations"] ?? "[]") as Citation[];
for (const { document, chunk } of citations) {
  const query = { from: chunk, limit: 1 };
  const { chunks } = await client.collections.chunks(COLLECTION, document, query);
  console.log(`\nFrom ${document}, ${chunks[0]?.heading}:\n${chunks[0]?.content}`);
}
