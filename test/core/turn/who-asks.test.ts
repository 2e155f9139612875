import { expect, test } from "vitest";
import { AssistantAgent, FunctionTool, ReplayChatCompletionClient, run } from "troupe";
import type { RunContext } from "troupe";
import { runContext } from "#core/turn/run-context.ts";
import { LocalPython } from "../../support/local-python.ts";
import { functionTool, loaded, toolRun } from "../python/support.ts";

const ASKER = {
  user: "ada",
  subject: "shop",
  tenant: "acme",
  team: "desk",
  metadata: { order: { id: 7 } },
};

test("a tool in code reads its caller, and cannot change it", async () => {
  const seen: RunContext[] = [];
  const tool = new FunctionTool({
    name: "orders",
    description: "Lists orders.",
    parameters: { type: "object", properties: {} },
    execute: (_args, call) => {
      seen.push(call.run);
      return "none";
    },
  });
  const calls = [{ id: "c", name: "orders", arguments: "{}" }];
  const modelClient = new ReplayChatCompletionClient(
    [
      {
        finish_reason: "function_calls",
        content: calls,
        usage: { prompt_tokens: 1, completion_tokens: 1 },
        cached: false,
      },
    ],
    {
      cycle: true,
      modelInfo: {
        vision: false,
        functionCalling: true,
        jsonOutput: false,
        structuredOutput: false,
        family: "unknown",
      },
    },
  );
  const clerk = new AssistantAgent({ name: "clerk", modelClient, tools: [tool] });
  await run(clerk, { task: "My orders?", ...ASKER });
  await run(clerk, { task: "My orders?" });
  const [given, local] = seen;
  expect(given).toEqual({ id: expect.any(String), ...ASKER });
  expect(Object.isFrozen(given?.metadata["order"])).toBe(true);
  expect(local).toEqual({
    id: expect.any(String),
    team: "local",
    tenant: "local",
    metadata: {},
  });
});

test.each([
  ["RunContext", "def f(run: RunContext, order: int) -> str:"],
  ["Optional", "def f(order: int, run: Optional[RunContext] = None) -> str:"],
  ["positional", "def f(run: 'RunContext', order: int, /) -> str:"],
])(
  "a Python tool gets its caller by an annotation, which models do not see (%s)",
  async (_, head) => {
    const source = `${head}\n    return f"{run.id} {run.team} {run.tenant} {run.user} {run.subject} {run.metadata['order']['id']} {order}"\n`;
    const tool = await loaded(new LocalPython(), functionTool(source));
    expect(tool.schema.parameters).toMatchObject({ required: ["order"] });
    expect(JSON.stringify(tool.schema)).not.toContain("run");
    const { subject: _subject, ...asker } = ASKER;
    const call = { ...toolRun(), run: runContext({ id: "r1", ...asker }) };
    expect(await tool.run({ order: 3 }, call)).toBe("r1 desk acme ada None 7 3");
  },
);
