// Moves the teams of a gallery that AutoGen Studio has exported onto a server, and says what did not load and why:
// npx node examples/studio-gallery/move.ts GALLERY
import { readFile } from "node:fs/promises";
import { ApiError, TroupeClient } from "troupe/client";
import type { ComponentModel } from "troupe";

interface Gallery {
  components: { teams: (ComponentModel & { label: string })[] };
}

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error("Usage: move.ts GALLERY");

const client = new TroupeClient({
  baseURL: process.env["TROUPE_URL"] ?? "http://127.0.0.1:8787",
  token: process.env["TROUPE_API_KEY"],
});
const { components } = JSON.parse(await readFile(file, "utf8")) as Gallery;
let refused = 0;

for (const component of components.teams) {
  try {
    const { notes } = await client.validate(component);
    const { id } = await client.teams.create({ component });
    console.log(`${component.label}: loaded as ${id}`);
    // Equal parts have equal remarks, such as a key that is not set.
    for (const message of new Set(notes.map((note) => note.message)))
      console.log(`  note: ${message}`);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    refused++;
    console.log(`${component.label}: refused: ${error.message.split("\n")[0]}`);
    for (const { path, message } of error.problem.errors ?? [])
      console.log(`  ${path}: ${message}`);
  }
}
const { length } = components.teams;
console.log(`${length - refused} of ${length} teams are on the server.`);
