import { writeFileSync } from "node:fs";
import { readSurface, RECORDED } from "./surface.ts";

// Records what surface.long.test.ts compares with: node test/surface/record.ts. Only after changes that the changelog announces.
// One line per entry, so that a diff shows what has changed.
const parts = Object.entries(await readSurface()).map(([part, entries]) => {
  const lines = Object.entries(entries as object).map(
    ([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`,
  );
  return `${JSON.stringify(part)}: {\n${lines.join(",\n")}\n}`;
});
writeFileSync(RECORDED, `{\n${parts.join(",\n")}\n}\n`);
