import { expect, test } from "vitest";
import { FunctionTool } from "troupe";
import type { FunctionCall, TaskFile } from "troupe";
import { catalog } from "../support/catalog.ts";
import { assistant } from "../support/components.ts";
import { Effects } from "../support/effects.ts";
import { TestTeam, texts, value } from "../support/team.ts";

let seen: (readonly TaskFile[] | undefined)[] = [];
catalog.registerTool(
  new FunctionTool({
    name: "read_order",
    description: "Reads the order that came in.",
    parameters: {},
    execute: (_args, { files = [] }) => {
      seen.push(files);
      return files.map(({ name, data }) => `${name}: ${atob(data)}`).join("\n");
    },
  }),
);

const CALL: FunctionCall = { id: "c", name: "read_order", arguments: "{}" };
const tool = (approval: string | null) => ({
  provider: "FunctionTool",
  config: { name: "read_order", approval },
});
const clerk = (approval: string | null) =>
  assistant(new Effects(), "clerk", { tools: [tool(approval)] }, () => [CALL]);

const message = (metadata: Record<string, string>) => ({
  type: "MultiModalMessage" as const,
  source: "user",
  content: ["Look.", { data: btoa("{}"), name: "order.json", media_type: "application/json" }],
  metadata,
  models_usage: null,
});

test("a tool reads the files of the task after its team was unloaded, and those from outside are marked", async () => {
  seen = [];
  const team = await TestTeam.create(clerk("human"));
  const { id } = await team.start(null, {
    task: [message({}), message({ foreign: "order.json" })],
  });
  const run = await team.rested(id);
  await team.evict();
  value(await team.gateway.answer(id, run.requests[0]?.id ?? "", { approved: true }));
  const file = { name: "order.json", media_type: "application/json", data: btoa("{}") };
  expect(texts(await team.finished(id)).at(-1)).toBe("order.json: {}\norder.json: {}");
  expect(seen).toEqual([
    [
      { ...file, foreign: false },
      { ...file, foreign: true },
    ],
  ]);
});

test("a task of text has no files", async () => {
  seen = [];
  const team = await TestTeam.create(clerk(null));
  await team.finished((await team.start("go")).id);
  expect(seen).toEqual([[]]);
});
