#!/usr/bin/env node
import { main } from "./index.ts";

await main(process.argv.slice(2));
