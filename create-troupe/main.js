#!/usr/bin/env node
// `npm create troupe my-team` is `npx troupe init my-team`.
import { main } from "troupe/cli";

await main(["init", ...process.argv.slice(2)]);
