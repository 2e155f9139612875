import { join } from "node:path";
import { expect, test } from "vitest";
import { speaker } from "../../../../console/test/support/components.ts";
import { ROOT } from "../../../support/npm-start.ts";
import { file, Workplace } from "../../../support/pages.ts";
import { TestWorker } from "../../../support/worker.ts";
import { newTeam } from "../support/teams.ts";

test("the program of the page streams a team's answer", async () => {
  await using worker = await TestWorker.start();
  await newTeam(worker, { id: "demo", component: speaker(["The lamp turns."]) });
  using place = new Workplace();
  const code = file("ag-ui.ts").replace(
    "http://127.0.0.1:8787",
    (await worker.origin).replace(/\/$/, ""),
  );
  const { stdout, stderr } = await place.execute(join(ROOT, "node_modules/.bin/node"), [
    place.write("ag-ui.ts", code),
  ]);
  expect(stdout, stderr).toBe("speaker: The lamp turns.\n");
});
