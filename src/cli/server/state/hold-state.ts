// Loaded into wrangler before it starts: waits until the wrangler of a killed start, and its workerd, have ended.

import { setTimeout as sleep } from "node:timers/promises";
import { tryLock } from "./state-lock.ts";

const file = process.env.TROUPE_RUNTIME_LOCK;
// The processes that this one starts load this file, too.
delete process.env.TROUPE_RUNTIME_LOCK;
if (file !== undefined) {
  while (!tryLock(file)) await sleep(50);
}
