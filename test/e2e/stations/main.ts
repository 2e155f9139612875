import { writeFileSync } from "node:fs";
import { measuredWay } from "./measure.ts";
import { measuredEntries, PAGE, pageOf } from "./page.ts";

// `npm run stations` writes docs/design/stations.md from one measured run.
const way = await measuredWay();
writeFileSync(PAGE, pageOf(way, measuredEntries(way)));
