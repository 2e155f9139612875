import { expect, test } from "vitest";
import { McpWorkbench } from "troupe";
import type { Answer, JsonObject } from "troupe";
import { RecordingHost } from "../../core/support/recording-host.ts";
import { call, textsOf } from "./support/calls.ts";
import { TestMcpServer } from "./support/test-server.ts";

/** Runs the call as often as it asks, each time with one more answer. */
async function answering(
  workbench: McpWorkbench,
  name: string,
  args: JsonObject,
  answers: (Answer | (() => Answer))[],
  host = new RecordingHost(),
) {
  for (;;) {
    try {
      return { host, ...(await call(workbench, name, args, host)) };
    } catch (error) {
      const question = host.questions.at(-1);
      const answer = answers.shift();
      if (question === undefined || answer === undefined) throw error;
      host.answers.set(question.id, typeof answer === "function" ? answer() : answer);
    }
  }
}

function describePay(server: TestMcpServer, description: string): void {
  server.tools.list = [{ name: "pay", description, inputSchema: { type: "object" } }];
}

test("the approval of all tools, or of some, is requested before the call", async () => {
  await using server = await TestMcpServer.start();
  const all = new McpWorkbench({
    serverParams: server.params,
    approval: "human",
    approvalTimeoutSeconds: 60,
  });
  const { result, host } = await answering(all, "pay", { amount: 1 }, [
    { approved: true, arguments: { amount: 2 } },
  ]);
  expect(textsOf(result)).toEqual([
    'A human changed the arguments of this call to {"amount":2}.',
    "paid 2",
  ]);
  expect(host.questions[0]).toMatchObject({
    kind: "approval",
    source: "clerk",
    timeoutSeconds: 60,
    toolCall: { name: "pay", arguments: { amount: 1 }, callId: "1" },
  });

  const some = new McpWorkbench({
    serverParams: server.params,
    toolOverrides: { pay: { approval: "human" } },
  });
  const refused = await answering(some, "pay", {}, [{ approved: false, reason: "too much" }]);
  expect(textsOf(refused.result)).toEqual(["The tool call was not approved. Reason: too much"]);
  const unasked = await call(some, "echo", { text: "hi" });
  expect(textsOf(unasked.result)).toEqual(["echo: hi"]);
  expect(server.tools.calls.map(({ name }) => name)).toEqual(["pay", "echo"]);
});

test.each<[string, JsonObject]>([
  ["description", { description: "Pays, and tells everybody." }],
  ["parameters", { inputSchema: { type: "object", properties: { account: {} } } }],
  ["annotations", { annotations: { readOnlyHint: true } }],
])(
  "the approval counts for the tool that was shown: %s that changed are approved again",
  async (_, changed) => {
    await using server = await TestMcpServer.start();
    const workbench = new McpWorkbench({ serverParams: server.params, approval: "human" });
    describePay(server, "Pays.");
    const { result, host } = await answering(workbench, "pay", { amount: 1 }, [
      () => {
        server.tools.list = server.tools.list.map((tool) => ({ ...tool, ...changed }));
        return { approved: true };
      },
      { approved: false },
    ]);
    expect(textsOf(result)).toEqual(["The tool call was not approved."]);
    const ids = new Set(host.questions.map(({ id }) => id));
    expect(ids.size).toBe(2);
    expect(host.questions.at(-1)?.prompt).toContain("has changed the tool since");
    expect(server.tools.calls).toEqual([]);
  },
);

test("the approval is void when the tool is gone, or changes again and again", async () => {
  await using server = await TestMcpServer.start();
  const workbench = new McpWorkbench({ serverParams: server.params, approval: "human" });
  const gone = await answering(workbench, "pay", {}, [
    () => {
      server.tools.list = [];
      return { approved: true };
    },
  ]);
  expect(textsOf(gone.result)).toEqual(["The tool pay no longer exists at its server."]);

  let version = 0;
  const change = (): Answer => {
    describePay(server, `version ${version++}`);
    return { approved: true };
  };
  change();
  const changing = await answering(
    workbench,
    "pay",
    {},
    Array.from({ length: 9 }, () => change),
    // A turn of its own, whose list is not the recorded one.
    new RecordingHost(),
  );
  expect(changing.result.is_error).toBe(true);
  expect(textsOf(changing.result)[0]).toContain("again and again");
  expect(server.tools.calls).toEqual([]);
});
