import { writeFileSync } from "node:fs";
import { measuredWay } from "./measure.ts";
import { PAGE, pageOf } from "./page.ts";

// `npm run stations` writes docs/design/stations.md from one measured run.
writeFileSync(PAGE, pageOf(await measuredWay()));
