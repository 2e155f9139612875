import { readFileSync } from "node:fs";
import { join } from "node:path";
import { newTeam } from "../api/protocols/support/teams.ts";
import { TestWorker } from "../support/worker.ts";
import type { Outcome, Suite } from "./suite.ts";

/** The A2A kit (a2aproject/a2a-tck, branch 1.0-dev), over JSON-RPC and HTTP+JSON. `SUITE_PYTHON` is a Python with its packages. */
export const a2aTck: Suite = {
  commit: "357c4a87afa2818731590647cccbea31c31733a2",
  expectedFailures: {
    test_agent_card_validates_against_schema:
      "a card also has what clients of 0.3 read (url, protocolVersion, preferredTransport, security), and the schema allows no further fields",
    "TestFileArtifact.":
      "files of a task are those that its sandbox wrote, and the kit's agent has none",
    "TestFileUrlArtifact.": "the same",
    "TestMessageResponse.":
      "each message is answered with a task; the protocol leaves the choice to the agent",
    "test_delivery_includes_auth[jsonrpc]":
      "the kit sends the messageId of an earlier test again, whose task is found, without the new push notification config",
    "[CORE-SEND-003-":
      "the error that the requirement demands is sent, and the kit takes every error for a failure here",
    "[CORE-MULTI-002a-": "the same: an unknown context is refused, as the requirement demands",
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
    const host = new URL(await worker.origin).origin;
    return {
      run: (checkout) => ({
        command: process.env["SUITE_PYTHON"] ?? "python3",
        args: ["run_tck.py", `--sut-host=${host}`, "--transport=jsonrpc,http_json"],
        env: {},
        outcomes: () => outcomesIn(readFileSync(join(checkout, "reports/junitreport.xml"), "utf8")),
      }),
      [Symbol.asyncDispose]: () => worker[Symbol.asyncDispose](),
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
