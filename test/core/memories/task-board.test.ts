import { expect, test } from "vitest";
import {
  AssistantAgent,
  type BoardTask,
  Catalog,
  ComponentRegistry,
  coreComponents,
  DiGraphBuilder,
  dumpComponent,
  GraphFlow,
  MaxMessageTermination,
  RoundRobinGroupChat,
  run,
  TaskBoard,
} from "troupe";
import { call, Model } from "../support/model.ts";

function agentOf(name: string, model: Model, memory = new TaskBoard()): AssistantAgent {
  return new AssistantAgent({ name, modelClient: model, memory: [memory], maxToolIterations: 20 });
}

/** The boards that a model saw in its system message, call by call. */
function seenBy(model: Model): string[] {
  return model.read.map(([system]) => {
    const [, text] = /<tasks-\w+>\n([^]*)\n<\/tasks-\w+>/.exec(system?.content as string) ?? [];
    return text ?? "";
  });
}

function tasksOf(memory: TaskBoard): readonly BoardTask[] {
  return memory.saveState()["tasks"] as unknown as BoardTask[];
}

/** The result of the model's last call of a tool. */
function lastResult(model: Model): unknown {
  const message = model.read.at(-1)?.at(-1);
  return message?.type === "FunctionExecutionResultMessage" && message.content[0];
}

test("the agents of a team share one board: a planner adds tasks, workers claim and finish them", async () => {
  const planner = new Model(
    call("add_task", { title: "Find a recipe", note: "For four." }),
    call("add_task", { title: "Buy the food", depends_on: ["t1"] }),
    "Planned.",
  );
  const worker = new Model(
    call("claim_task", { id: "t1" }),
    call("finish_task", { id: "t1", note: "Lentil soup." }),
    "Found.",
  );
  const board = new TaskBoard();
  const team = new RoundRobinGroupChat(
    [agentOf("planner", planner, board), agentOf("worker", worker)],
    { terminationCondition: new MaxMessageTermination(3) },
  );
  await run(team, "Dinner.");
  expect(seenBy(planner)).toEqual([
    "The board is empty.",
    "t1 (open) Find a recipe - For four.",
    "t1 (open) Find a recipe - For four.\nt2 (open waits for t1) Buy the food",
  ]);
  expect(seenBy(worker)).toEqual([
    "t1 (open) Find a recipe - For four.\nt2 (open waits for t1) Buy the food",
    "t1 (claimed by worker) Find a recipe - For four.\nt2 (open waits for t1) Buy the food",
    "t2 (open) Buy the food\nt1 (done by worker) Find a recipe - Lentil soup.",
  ]);
  expect(tasksOf(board)).toMatchObject([
    { id: "t1", owner: "worker", state: "done", note: "Lentil soup.", depends_on: [] },
    { id: "t2", owner: null, state: "open", note: null, depends_on: ["t1"] },
  ]);
});

test("one of two agents that claim a task side by side gets it, and the other reads whose it is", async () => {
  const claims = (): Model => new Model(call("claim_task", { id: "t1" }), "Done.");
  const [first, second] = [claims(), claims()];
  const board = new TaskBoard();
  await board.add({ content: "Cook", mime_type: "text/plain", metadata: null });
  const agents = [agentOf("ann", first, board), agentOf("bob", second)];
  const graph = new DiGraphBuilder();
  for (const agent of agents) graph.addNode(agent);
  await run(new GraphFlow(agents, graph.build()), "Claim it.");
  const [task] = tasksOf(board);
  expect(task).toMatchObject({ state: "claimed" });
  const [winner, loser] = task?.owner === "ann" ? [first, second] : [second, first];
  expect(lastResult(winner)).toMatchObject({ content: "The task t1 is yours.", is_error: false });
  const reason = `id "t1" belongs to ${task?.owner}`;
  expect(lastResult(loser)).toMatchObject({
    is_error: true,
    content: expect.stringContaining(reason),
  });
});

test.each([
  ["claim_task", { id: "t9" }, 'id "t9" does not exist; the tasks are t1, t2, t3'],
  ["claim_task", { id: "t2" }, 'id "t2" cannot be claimed before t1 ended'],
  ["claim_task", { id: "t3" }, 'id "t3" is dropped'],
  ["finish_task", { id: "t1" }, 'id "t1" is open; claim it first'],
  ["update_task", { id: "t1", depends_on: ["t2"] }, 'depends_on[0] "t2" would close a cycle'],
  ["update_task", { id: "t1", depends_on: ["t1"] }, 'depends_on[0] "t1" would close a cycle'],
  [
    "update_task",
    { id: "t1", depends_on: ["t3", "t3"] },
    'depends_on[1] "t3" is in the list twice',
  ],
  ["update_task", { id: "t1", state: "done" }, "state"],
  ["add_task", { title: " " }, "title: must have at least 1 character"],
  ["add_task", { title: "x".repeat(201) }, "title: must have at most 200 characters"],
  ["add_task", { title: "New", depends_on: ["t7"] }, 'depends_on[0] "t7" does not exist'],
  ["add_task", { title: "New", note: "x".repeat(2001) }, "note: must have at most 2000 characters"],
])("a model reads why a tool of the board refuses its call: %#", async (tool, args, why) => {
  const model = new Model(
    call("add_task", { title: "First" }),
    call("add_task", { title: "Second", depends_on: ["t1"] }),
    call("add_task", { title: "Third" }),
    call("update_task", { id: "t3", state: "dropped" }),
    call(tool, args),
    "Done.",
  );
  const memory = new TaskBoard();
  await run(agentOf("cook", model, memory), "Cook.");
  expect(lastResult(model)).toMatchObject({
    is_error: true,
    content: expect.stringContaining(why),
  });
  expect(tasksOf(memory).map(({ state }) => state)).toEqual(["open", "open", "dropped"]);
});

test("a task that another agent has claimed is changed and finished by that agent alone", async () => {
  const ann = new Model(
    call("add_task", { title: "Cook" }),
    call("claim_task", { id: "t1" }),
    "Mine.",
  );
  const bob = new Model(
    call("update_task", { id: "t1", title: "Bake" }),
    call("finish_task", { id: "t1" }),
    "I may not.",
  );
  const board = new TaskBoard();
  const team = new RoundRobinGroupChat([agentOf("ann", ann, board), agentOf("bob", bob)], {
    terminationCondition: new MaxMessageTermination(3),
  });
  await run(team, "Dinner.");
  const results = bob.read.slice(1).map((messages) => JSON.stringify(messages.at(-1)));
  for (const result of results) expect(result).toContain("belongs to ann");
  expect(tasksOf(board)).toMatchObject([{ title: "Cook", owner: "ann", state: "claimed" }]);
});

test("a task that is given back has no owner and can be claimed again", async () => {
  const model = new Model(
    call("add_task", { title: "Cook" }),
    call("claim_task", { id: "t1" }),
    call("update_task", { id: "t1", state: "open", note: "The oven is broken." }),
    "Not mine.",
  );
  const memory = new TaskBoard();
  await run(agentOf("cook", model, memory), "Cook.");
  expect(tasksOf(memory)).toMatchObject([
    { owner: null, state: "open", note: "The oven is broken." },
  ]);
});

test("a board takes 500 tasks and shows a model a bounded part, what is left to do first", async () => {
  const memory = new TaskBoard();
  for (let number = 1; number <= 500; number++) {
    await memory.add({ content: `Task ${number}`, mime_type: "text/plain", metadata: null });
  }
  const model = new Model(call("add_task", { title: "One more" }), "Full.");
  await run(agentOf("cook", model, memory), "Cook.");
  expect(lastResult(model)).toMatchObject({
    is_error: true,
    content: expect.stringContaining("the board has 500 tasks"),
  });
  const lines = seenBy(model)[0]?.split("\n") ?? [];
  expect([lines[0], lines.length, lines.at(-1)]).toEqual([
    "t1 (open) Task 1",
    51,
    "450 more tasks are not shown.",
  ]);
});

test("the changes of a run that fails are withdrawn", async () => {
  const memory = new TaskBoard();
  const cook = agentOf("cook", new Model(call("add_task", { title: "Cook" })), memory);
  await expect(run(cook, "Go.")).rejects.toThrow("no answer left");
  expect(tasksOf(memory)).toEqual([]);
});

test("an agent that joins a team later has the board of the others", async () => {
  const first = agentOf("cook", new Model(call("add_task", { title: "Cook" }), "Done."));
  await run(first, "Plan.");
  const model = new Model("Fine.");
  const heir = agentOf("cook", new Model("Fine."));
  heir.loadState(first.saveState());
  const team = new RoundRobinGroupChat([agentOf("host", model), heir], {
    terminationCondition: new MaxMessageTermination(2),
  });
  await run(team, "Go on.");
  expect(seenBy(model)).toEqual(["t1 (open) Cook"]);
});

test("the memory is loaded from component JSON and dumped unchanged", () => {
  const registry = new ComponentRegistry().register(...coreComponents(new Catalog()));
  const model = {
    provider: "troupe.memory.TaskBoard",
    component_type: "memory",
    version: 1,
    component_version: 1,
    config: { name: "board" },
  };
  expect(dumpComponent(registry.load(model, "memory"))).toEqual(model);
});
