// The dojo's traces and fixtures against the built Worker: one line for each test.

import { join } from "node:path";
import { startFakeOpenAI } from "../../support/fake-openai/server.ts";
import { TestWorker } from "../../support/worker.ts";
import { fixtureJourneys } from "./fixtures.ts";
import { langgraphJourneys } from "./langgraph.ts";
import { MockModel } from "./mock-model.ts";
import { recordedJourneys } from "./recorded.ts";
import { replay } from "./replay.ts";
import type { Journey } from "./trace.ts";

const [checkout = ""] = process.argv.slice(2);
const e2e = join(checkout, "apps/dojo/e2e");

{
  await using model = await MockModel.start(e2e);
  await runAll(model.url, [...(await langgraphJourneys(e2e)), ...fixtureJourneys(e2e)]);
}
{
  const { journeys, rules } = recordedJourneys(checkout);
  await using model = await startFakeOpenAI({ rules });
  await runAll(model.url, journeys);
}

async function runAll(model: string, journeys: readonly Journey[]): Promise<void> {
  const settings = { OPENAI_API_KEY: "test-key", OPENAI_BASE_URL: model };
  await using worker = await TestWorker.start(settings, {
    entry: "test/suites/worker/recorded-tool.ts",
  });
  for (const journey of journeys) {
    for await (const { test, failure } of replay(worker, journey)) {
      process.stdout.write(
        failure === undefined ? `passed: ${test}\n` : `failed: ${test}\n  ${failure}\n`,
      );
    }
  }
}
