import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { newTeam } from "../api/protocols/support/teams.ts";
import { TestWorker } from "../support/worker.ts";
import { startKitRequests } from "./kit-requests.ts";
import type { Outcome, Suite } from "./suite.ts";

/** The A2A kit (a2aproject/a2a-tck, branch 1.0-dev), over JSON-RPC and HTTP+JSON. `SUITE_PYTHON` is a Python with its packages. */
export const a2aTck: Suite = {
  commit: "357c4a87afa2818731590647cccbea31c31733a2",
  expectedFailures: {
    "TestFileUrlArtifact.":
      "the first artifact of a task is its answer, whose files come as bytes; URLs are in the artifacts after it, of files that the sandbox wrote",
    "TestMessageResponse.":
      "each message is answered with a task; the protocol leaves the choice to the agent",
    "[CORE-SEND-003-":
      "the error that the requirement demands is sent, and the kit takes every error for a failure here",
  },
  async start() {
    const worker = await TestWorker.start(
      { A2A_TEAM: "local/kit", SECRETS_KEY: btoa("k".repeat(32)) },
      { entry: "test/suites/worker/kit-agent.ts" },
    );
    const component = {
      provider: "test.KitAgent",
      component_type: "agent",
      config: { name: "kit" },
    };
    await newTeam(worker, { id: "kit", component });
    const requests = await startKitRequests(await worker.origin);
    return {
      run(checkout) {
        const report = join(checkout, "reports/junitreport.xml");
        // One of an earlier run must not count, where the kit cannot start.
        rmSync(report, { force: true });
        return {
          command: process.env["SUITE_PYTHON"] ?? "python3",
          args: ["run_tck.py", `--sut-host=${requests.url}`, "--transport=jsonrpc,http_json"],
          env: {},
          outcomes: () => outcomesIn(readFileSync(report, "utf8")),
        };
      },
      async [Symbol.asyncDispose]() {
        await requests[Symbol.asyncDispose]();
        await worker[Symbol.asyncDispose]();
      },
    };
  },
};

/** The tests of a report in JUnit's format. What is only recommended and fails counts as skipped there. */
function outcomesIn(report: string): Outcome[] {
  const cases = report.matchAll(
    /<testcase classname="([^"]*)" name="([^"]*)"[^>]*?(\/>|>(.*?)<\/testcase>)/gs,
  );
  return Array.from(cases, ([, group, name, , body = ""]) => ({
    test: `${group}.${name}`,
    failed: /<(failure|error)\b/.test(body),
    skipped: body.includes("<skipped"),
  })).filter(({ skipped }) => !skipped);
}
