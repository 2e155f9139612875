import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { SAMPLE_COMPONENT } from "../../../support/sample-component.ts";
import { file, Workplace } from "../../../support/pages.ts";
import { TestWorker } from "../../../support/worker.ts";
import { newTeam } from "../support/teams.ts";

const place = new Workplace();
afterAll(() => place[Symbol.dispose]());

test("the program of docs/a2a.md writes the messages of the agents", async () => {
  await using worker = await TestWorker.start();
  await newTeam(worker, { id: "news", component: SAMPLE_COMPONENT });
  const program = place.write("first-task.mjs", file("first-task.mjs"));
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    [program, "news", "What is new?"],
    { env: { ...process.env, TROUPE_URL: await worker.origin } },
  );
  expect(stderr).toBe("");
  expect(stdout).toBe("oneonetwo");
});
