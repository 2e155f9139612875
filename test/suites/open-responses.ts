import { startFakeOpenAI } from "../support/fake-openai/server.ts";
import { TestWorker } from "../support/worker.ts";
import type { Outcome, Suite } from "./suite.ts";

/** What the suite's command prints with `--json`. */
interface Report {
  results: { id: string; status: string }[];
}

/** Open Responses (openresponses/openresponses), with Bun and the packages of its lock file installed in the checkout. */
export const openResponses: Suite = {
  commit: "92c12d96d7b61d6d15e2214daa5e9c6000ab6e1c",
  expectedFailures: {},
  async start() {
    const fake = await startFakeOpenAI({
      rules: [
        {
          name: "weather",
          match: { text: "What's the weather like in San Francisco?" },
          reply: {
            tool_calls: [{ name: "get_weather", arguments: { location: "San Francisco, CA" } }],
          },
        },
      ],
    });
    const worker = await TestWorker.start({
      OPENAI_API_KEY: "test-key",
      OPENAI_BASE_URL: fake.url,
    });
    const base = new URL("/openai/v1", await worker.origin).href;
    return {
      run: () => ({
        command: "bun",
        args: [
          "run",
          "bin/compliance-test.ts",
          "--base-url",
          base,
          "--model",
          "template:tools_assistant",
          "--json",
        ],
        env: { OPENRESPONSES_API_KEY: "none" },
        outcomes: outcomesIn,
      }),
      async [Symbol.asyncDispose]() {
        await worker[Symbol.asyncDispose]();
        await fake[Symbol.asyncDispose]();
      },
    };
  },
};

/** What needs a vector store or the web counts as skipped. */
function outcomesIn(output: string): Outcome[] {
  const { results } = JSON.parse(output.slice(output.indexOf("{"))) as Report;
  return results
    .filter(({ status }) => status !== "skipped")
    .map(({ id, status }) => ({ test: id, failed: status === "failed" }));
}
