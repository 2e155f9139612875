import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { killedRuns } from "./kills/measure.ts";
import { PAGE, pageOf } from "./kills/page.ts";

test("the page says what is on disk after a kill and what the next load does (`npm run kills` writes it)", async () => {
  expect(readFileSync(PAGE, "utf8")).toBe(pageOf(await killedRuns()));
});
