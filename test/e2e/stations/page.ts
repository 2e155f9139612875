import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { entriesOf, type Way } from "./measure.ts";

export const PAGE = join(import.meta.dirname, "../../../docs/design/stations.md");
const ROUTER = "src/api/http/app.ts";

/** Each call of a function of another file than the one before, from the router on. */
export function stationsOf({ calls }: Way): { file: string; name: string }[] {
  return calls
    .slice(calls.findIndex(({ file }) => file === ROUTER))
    .filter(({ file }, index, all) => file !== all[index - 1]?.file);
}

/** The page as it is stored. */
export function storedPage(): string {
  return readFileSync(PAGE, "utf8");
}

/** The calls of functions of other files in a run: up to the request to the model, and up to the last frame. */
export interface Entries {
  before: number;
  all: number;
}

export function measuredEntries({ entries }: Way): Entries {
  return { before: entriesOf(entries.before), all: entriesOf(entries.all) };
}

/** The numbers that the stored page states. */
export function storedEntries(): Entries {
  const [, before, all] =
    /(\d+) times before the request to the model and (\d+) times/.exec(storedPage()) ?? [];
  return { before: Number(before), all: Number(all) };
}

/** The page as it follows from what was measured. */
export function pageOf(way: Way, entries: Entries): string {
  const stations = stationsOf(way).map(
    ({ file, name }, index) => `| ${index + 1} | \`${file}\` | \`${name}\` |`,
  );
  return `# The way of a streamed run

\`npm run stations\` writes this page: it measures one run of a team in memory, with all modules loaded, in a bundle whose functions
note who calls them. \`test/e2e/stations.long.test.ts\` compares the page, so a change that adds a file names it here.

A run passes these stations from the router to the request to the model. A station is a function that is called from another file.
Further functions of the same file belong to the same station, and functions that have already returned are not listed.

| station | file | function |
|---|---|---|
${stations.join("\n")}

More files are entered between the router and the request to the model by functions that return before it: the checks of the
request, the limits, the row of the run, turn 0 with its commit, the first frames of the stream, and the body of the model's
request. ${way.files.length} files are on the way: one of their functions calls a function of another file.

| folder | files on the way |
|---|---|
${byFolder(way.files)}

${way.helpers.length} more files are helpers: none of their functions calls another file on the way.

| folder | helpers |
|---|---|
${byFolder(way.helpers)}

Functions of other files are called ${entries.before} times before the request to the model and ${entries.all} times up to the last frame. The
test refuses a change that makes either number larger.
`;
}

function byFolder(files: readonly string[]): string {
  const folders = Map.groupBy(files, (file) => dirname(file));
  return [...folders]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([folder, all]) => {
      const names = all.map((file) => `\`${basename(file)}\``).join(", ");
      return `| \`${folder}\` | ${names} |`;
    })
    .join("\n");
}
