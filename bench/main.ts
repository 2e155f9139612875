import { parseArgs } from "node:util";
import { PEERS_INSTALLED } from "./conversation/all-peers.ts";
import { worsened } from "./support/check.ts";
import { isMet, type MeasureOptions, printReport, type Report } from "./support/report.ts";
import { writeTables } from "./support/tables.ts";

interface Section {
  measure(options?: MeasureOptions): Promise<Report>;
}

/** Loaded when they run, so that no section pays for the imports of another. */
const SECTIONS: Record<string, () => Promise<Section>> = {
  size: () => import("./sections/size.ts"),
  cpu: () => import("./sections/cpu.ts"),
  caching: () => import("./sections/caching.ts"),
  chat: () => import("./sections/chat.ts"),
  turns: () => import("./sections/turns.ts"),
  rows: () => import("./sections/rows.ts"),
  fixed: () => import("./sections/fixed.ts"),
  profile: () => import("./sections/profile.ts"),
  auth: () => import("./sections/auth.ts"),
  teams: () => import("./sections/teams.ts"),
  stream: () => import("./sections/stream.ts"),
  protocols: () => import("./sections/protocols.ts"),
  watchers: () => import("./sections/watchers.ts"),
  memory: () => import("./sections/memory.ts"),
  "memory-recall": () => import("./sections/recall.ts"),
  residency: () => import("./sections/residency.ts"),
  code: () => import("./sections/code.ts"),
  platform: () => import("./sections/platform.ts"),
  console: () => import("./sections/console.ts"),
};

/** Sections that can be run in seconds, with figures that mean nothing. */
const HAS_SMOKE: readonly string[] = [
  "cpu",
  "caching",
  "chat",
  "profile",
  "protocols",
  "watchers",
  "memory-recall",
  "console",
];

/** Sections without peers to install, whose figures differ little between two runs. */
const CHECKED: readonly string[] = ["size", "rows", "fixed", "stream"];

/** Measurements of the installed package, with options of their own: they take long, and bench/results.md has no tables of them. */
const PROGRAMS: Record<string, () => Promise<{ main(args: readonly string[]): Promise<number> }>> =
  {
    serve: () => import("./serve/main.ts"),
    soak: () => import("./soak/main.ts"),
  };

// npm run bench -- (serve | soak) [option...]
const [program = "", ...rest] = process.argv.slice(2);
if (Object.hasOwn(PROGRAMS, program)) {
  const { main } = (await PROGRAMS[program]?.()) ?? {};
  process.exit(await main?.(rest));
}

// npm run bench -- [--tables | --check | --smoke | --list] [section...]
const { values: options, positionals: named } = parseArgs({
  allowPositionals: true,
  options: {
    tables: { type: "boolean" },
    check: { type: "boolean" },
    smoke: { type: "boolean" },
    list: { type: "boolean" },
  },
});
const unknown = named.filter((name) => !Object.hasOwn(SECTIONS, name));
if (unknown.length > 0) {
  console.error(
    `No such section: ${unknown.join(", ")}. There are ${Object.keys({ ...SECTIONS, ...PROGRAMS }).join(", ")}.`,
  );
  process.exit(2);
}
if (options.list === true) {
  // Loads them, so that a section that is broken shows.
  for (const [name, load] of Object.entries(SECTIONS)) {
    if (typeof (await load()).measure === "function") console.log(name);
  }
  process.exit();
}
if (options.smoke === true && named.some((name) => !HAS_SMOKE.includes(name))) {
  console.error(`--smoke is for ${HAS_SMOKE.join(", ")}.`);
  process.exit(2);
}
if (options.tables === true && !PEERS_INSTALLED) {
  console.error("The tables compare with peers: npm install --prefix bench/peers");
  process.exit(2);
}

if (options.check === true) {
  const worse: string[] = [];
  for (const [name, load] of Object.entries(SECTIONS)) {
    if (!(named.length > 0 ? named : CHECKED).includes(name)) continue;
    const { measure } = await load();
    worse.push(...(await worsened(name, () => measure())));
  }
  for (const line of worse) console.log(`WORSE  ${line}`);
  if (worse.length === 0) console.log("Nothing got worse by more than the spread.");
  process.exit(worse.length === 0 ? 0 : 1);
}

const chosen = named.length > 0 ? named : options.smoke === true ? HAS_SMOKE : undefined;
let met = 0;
let missed = 0;
for (const [name, load] of Object.entries(SECTIONS)) {
  if (chosen?.includes(name) === false) continue;
  const report = await (await load()).measure({ smoke: options.smoke });
  printReport(report);
  if (options.tables === true) writeTables(name, report);
  for (const goal of report.goals) {
    if (isMet(goal)) met++;
    else missed++;
  }
}
console.log(`\n${met} goals met, ${missed} missed`);
