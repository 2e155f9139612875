import { writeFileSync } from "node:fs";
import { killedRuns } from "./measure.ts";
import { PAGE, pageOf } from "./page.ts";

// `npm run kills` writes docs/design/kills.md from runs that it kills.
writeFileSync(PAGE, pageOf(await killedRuns()));
process.exit(0);
