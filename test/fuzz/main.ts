import { parseArgs } from "node:util";
import { fuzz } from "./fuzz.ts";

// Sends odd requests to the Worker: node test/fuzz/main.ts --seconds 600 --seed 1. The seed repeats a failure.
const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const seed = Number(values.seed);
console.log(`seed ${seed}`);
const { requests, statuses, failure } = await fuzz({
  seed,
  milliseconds: Number(values.seconds) * 1000,
});
const counts = [...statuses].toSorted(([one], [other]) => one - other);
console.log(counts.map(([status, count]) => `${status}: ${count}`).join("  "));
if (failure !== undefined) console.log(`FAIL\n${failure}`);
console.log(
  `${failure === undefined ? requests : requests - 1} passed, ${failure === undefined ? 0 : 1} failed`,
);
process.exit(failure === undefined ? 0 : 1);
