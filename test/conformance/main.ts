import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { errorMessage } from "#core/errors.ts";
import { type Deviation, readDeviations } from "./deviations.ts";
import { type Failure, type Outcome, play } from "./play.ts";
import type { Host } from "./host.ts";
import { InMemory } from "./in-memory.ts";
import { readTrace } from "./read-trace.ts";
import { type Trace, unreadKeys } from "./trace.ts";

const USAGE = `Plays recordings of AutoGen against Troupe.

  npm run conformance -- [--http] [DIR...]

Plays every .json file below the folders (default: the project's own traces). One line per failure; exit code 1 if
there was one. With --http every team and agent lives in a Durable Object inside workerd and is driven over its HTTP API:
once as it is, and once in an object that is ended before every step and whenever a run waits (evicted).`;

const OWN_TRACES = fileURLToPath(new URL("traces", import.meta.url));

/** Most traces spend their time waiting, some of them on purpose. */
const SIDE_BY_SIDE = 4;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { http: { type: "boolean" }, help: { type: "boolean" } },
});
if (values.help) {
  console.log(USAGE);
} else {
  const places = positionals.length > 0 ? positionals : [OWN_TRACES];
  process.exitCode = (await (values.http ? playOverHttp(places) : playInMemory(places))) ? 0 : 1;
}

/** One way to play a trace; what goes wrong there is reported with its name. */
interface Way {
  name: string;
  /** Left out: all traces can be played so. */
  suits?(trace: Trace): boolean;
  open(trace: Trace): Host | Promise<Host>;
}

function playInMemory(places: readonly string[]): Promise<boolean> {
  return playAll(places, [{ name: "", open: (trace) => InMemory.of(trace) }]);
}

async function playOverHttp(places: readonly string[]): Promise<boolean> {
  // Loaded only here: what starts workerd takes longer to load than all traces take in memory.
  const { ConformanceService } = await import("./http/service.ts");
  await using service = await ConformanceService.start();
  return await playAll(places, [
    { name: "", open: (trace) => service.open(trace, false) },
    {
      name: " (evicted)",
      suits: ({ steps }) => steps.some(({ op }) => op === "run"),
      open: (trace) => service.open(trace, true),
    },
  ]);
}

async function playAll(places: readonly string[], ways: readonly Way[]): Promise<boolean> {
  const deviations = readDeviations();
  const files: (string | { place: string; error: unknown })[] = [];
  for (const place of places) {
    try {
      files.push(...traceFiles(place));
    } catch (error) {
      files.push({ place, error });
    }
  }
  let passed = 0;
  const reports = sideBySide(files, SIDE_BY_SIDE, (file) =>
    typeof file === "string"
      ? playFile(file, deviations, ways)
      : { passed: false, lines: [`FAIL ${file.place}: ${errorMessage(file.error)}`] },
  );
  for await (const report of reports) {
    for (const line of report.lines) console.log(line);
    if (report.passed) passed++;
  }
  console.log(`${passed} passed, ${files.length - passed} failed`);
  return passed === files.length && passed > 0;
}

/** Does a thing with each item, some at a time, and yields what came of it in the order of the items. */
async function* sideBySide<Item, Result>(
  items: readonly Item[],
  width: number,
  use: (item: Item) => Result | Promise<Result>,
): AsyncGenerator<Result, void, void> {
  const started: Promise<Result>[] = [];
  for (const index of items.keys()) {
    for (let next = started.length; next < Math.min(index + width, items.length); next++) {
      started.push(Promise.resolve(use(items[next]!)));
    }
    yield await started[index]!;
  }
}

function traceFiles(place: string): string[] {
  if (statSync(place).isFile()) return [place];
  const files = readdirSync(place, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".json"))
    .toSorted()
    .map((name) => join(place, name));
  if (files.length === 0) throw new Error("there are no traces");
  return files;
}

interface Report {
  passed: boolean;
  lines: string[];
}

async function playFile(
  file: string,
  deviations: readonly Deviation[],
  ways: readonly Way[],
): Promise<Report> {
  let trace: Trace;
  try {
    trace = readTrace(file);
  } catch (error) {
    return { passed: false, lines: [`FAIL ${file}: ${errorMessage(error)}`] };
  }
  const listed = deviations.filter((deviation) => deviation.trace === trace.name);
  const suitable = ways.filter((way) => way.suits?.(trace) ?? true);
  const reports = await Promise.all(suitable.map((way) => playTrace(trace, listed, way)));
  const unread = unreadKeys(trace).map((key) => `note ${trace.name}: nobody reads ${key}`);
  return {
    passed: reports.every(({ passed }) => passed),
    lines: [...new Set([...unread, ...reports.flatMap(({ lines }) => lines)])],
  };
}

async function playTrace(trace: Trace, listed: readonly Deviation[], way: Way): Promise<Report> {
  const { name } = trace;
  let outcome: Outcome;
  try {
    outcome = await play(trace, await way.open(trace), listed);
  } catch (error) {
    return { passed: false, lines: [`FAIL ${name}${way.name}: ${errorMessage(error)}`] };
  }
  const lines = outcome.stale.map(
    ({ step, class: known }) =>
      `note ${name} step ${step}: listed as deviation ${known}, but it does not differ`,
  );
  if (outcome.failure) {
    return { passed: false, lines: [...lines, `FAIL ${name}${way.name}${shown(outcome.failure)}`] };
  }
  lines.push(
    ...outcome.deviations.map(
      ({ step, class: known }) => `pass ${name} step ${step} (deviation: ${known})`,
    ),
  );
  return { passed: true, lines };
}

function shown({ step, op, difference }: Failure): string {
  const place = step === undefined ? "" : ` step ${step} (${op})`;
  const { path, expected, actual } = difference;
  return `${place}: ${path}: expected ${oneLine(expected)}, got ${oneLine(actual)}`;
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}
