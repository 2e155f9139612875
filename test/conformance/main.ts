import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { errorMessage } from "../../src/core/errors.ts";
import { type Deviation, readDeviations } from "./deviations.ts";
import { type Failure, type Outcome, play } from "./play.ts";
import { InMemory } from "./in-memory.ts";
import { readTrace } from "./read-trace.ts";

const USAGE = `Plays recordings of AutoGen against Troupe.

  npm run conformance -- [DIR...]

Plays every .json file below the folders (default: the project's own traces). One line per failure; exit code 1 if
there was one.`;

const OWN_TRACES = fileURLToPath(new URL("traces", import.meta.url));

const folders = process.argv.slice(2);
if (folders.includes("--help")) {
  console.log(USAGE);
} else {
  process.exitCode = (await playAll(folders.length > 0 ? folders : [OWN_TRACES])) ? 0 : 1;
}

async function playAll(places: readonly string[]): Promise<boolean> {
  const deviations = readDeviations();
  let passed = 0;
  let failed = 0;
  for (const place of places) {
    let files: string[];
    try {
      files = traceFiles(place);
    } catch (error) {
      console.log(`FAIL ${place}: ${errorMessage(error)}`);
      failed++;
      continue;
    }
    for (const file of files) {
      if (await playFile(file, deviations)) passed++;
      else failed++;
    }
  }
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0;
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

async function playFile(file: string, deviations: readonly Deviation[]): Promise<boolean> {
  let name = file;
  let outcome: Outcome;
  try {
    const trace = readTrace(file);
    name = trace.name;
    outcome = await play(
      trace,
      new InMemory(trace),
      deviations.filter((deviation) => deviation.trace === trace.name),
    );
  } catch (error) {
    console.log(`FAIL ${name}: ${errorMessage(error)}`);
    return false;
  }
  for (const { step, class: known } of outcome.stale) {
    console.log(`note ${name} step ${step}: listed as deviation ${known}, but it does not differ`);
  }
  if (outcome.failure) {
    console.log(`FAIL ${name}${shown(outcome.failure)}`);
    return false;
  }
  for (const { step, class: known } of outcome.deviations) {
    console.log(`pass ${name} step ${step} (deviation: ${known})`);
  }
  return true;
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
