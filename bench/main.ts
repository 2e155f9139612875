import { isMet, printReport, type Report } from "./support/report.ts";

/** Loaded when they run, so that no section pays for the imports of another. */
const SECTIONS: Record<string, () => Promise<{ measure(): Promise<Report> }>> = {
  size: () => import("./sections/size.ts"),
  cpu: () => import("./sections/cpu.ts"),
  turns: () => import("./sections/turns.ts"),
  rows: () => import("./sections/rows.ts"),
  fixed: () => import("./sections/fixed.ts"),
  auth: () => import("./sections/auth.ts"),
  teams: () => import("./sections/teams.ts"),
  stream: () => import("./sections/stream.ts"),
  memory: () => import("./sections/memory.ts"),
  code: () => import("./sections/code.ts"),
  platform: () => import("./sections/platform.ts"),
};

// npm run bench -- [section...]
const named = process.argv.slice(2);
const unknown = named.filter((name) => !Object.hasOwn(SECTIONS, name));
if (unknown.length > 0) {
  console.error(
    `No such section: ${unknown.join(", ")}. There are ${Object.keys(SECTIONS).join(", ")}.`,
  );
  process.exit(2);
}

let met = 0;
let missed = 0;
for (const [name, load] of Object.entries(SECTIONS)) {
  if (named.length > 0 && !named.includes(name)) continue;
  const report = await (await load()).measure();
  printReport(report);
  for (const goal of report.goals) {
    if (isMet(goal)) met++;
    else missed++;
  }
}
console.log(`\n${met} goals met, ${missed} missed`);
