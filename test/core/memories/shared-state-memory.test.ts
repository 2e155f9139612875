import { expect, test } from "vitest";
import {
  AssistantAgent,
  Catalog,
  ComponentRegistry,
  coreComponents,
  dumpComponent,
  MaxMessageTermination,
  RoundRobinGroupChat,
  run,
  SharedStateMemory,
} from "troupe";
import { call, Model } from "../support/model.ts";

function update(changes: object): ReturnType<typeof call> {
  return call("update_state", { changes });
}

function agentOf(name: string, model: Model, memory = new SharedStateMemory()): AssistantAgent {
  return new AssistantAgent({ name, modelClient: model, memory: [memory], maxToolIterations: 9 });
}

/** The state that a model saw in its system message, call by call. */
function seenBy(model: Model): unknown[] {
  return model.read.map(([system]) => {
    const [, text] = /<state-\w+>\n(.*)\n<\/state-\w+>/.exec(system?.content as string) ?? [];
    return JSON.parse(text ?? "");
  });
}

test("all agents of a team see one state, and the changes of the others", async () => {
  const first = new Model(update({ recipe: { title: "Soup", steps: ["Boil."] } }), "Done.");
  const second = new Model(update({ recipe: { title: null, servings: 2 } }), "Done, too.");
  const memory = new SharedStateMemory();
  const team = new RoundRobinGroupChat([agentOf("cook", first), agentOf("host", second, memory)], {
    terminationCondition: new MaxMessageTermination(3),
  });
  await run(team, "Dinner.");
  const soup = { recipe: { title: "Soup", steps: ["Boil."] } };
  expect(seenBy(first)).toEqual([{}, soup]);
  const changed = { recipe: { steps: ["Boil."], servings: 2 } };
  expect(seenBy(second)).toEqual([soup, changed]);
  expect(await memory.query()).toMatchObject([{ content: changed }]);
});

test.each([
  [{ troupe: {} }, "changes.troupe is written by the server alone"],
  [{ a: { constructor: 1 } }, "changes.a.constructor must have another name"],
  [
    JSON.parse('{ "a": { "__proto__": { "b": 1 } } }'),
    "changes.a.__proto__ must have another name",
  ],
  [{ text: "x".repeat(64_000) }, "changes would be 64011 characters long as JSON"],
  [{ deep: JSON.parse("[".repeat(32) + "]".repeat(32)) }, "nested more than 32 levels deep"],
])(
  "a value that cannot be shared is refused, and the model reads the reason: %#",
  async (changes, why) => {
    const model = new Model(update({ kept: true }), update(changes), "Done.");
    const memory = new SharedStateMemory();
    await run(agentOf("cook", model, memory), "Cook.");
    expect(JSON.stringify(model.read.at(-1))).toContain(why);
    expect(seenBy(model).at(-1)).toEqual({ kept: true });
    expect(memory.saveState()).toEqual({ shared: { kept: true } });
  },
);

test("the changes of a run that fails are withdrawn", async () => {
  const memory = new SharedStateMemory();
  const cook = agentOf("cook", new Model(update({ a: 1 }), "Done.", update({ a: 2 })), memory);
  await run(cook, "Once.");
  await expect(run(cook, "Again.")).rejects.toThrow("no answer left");
  expect(memory.saveState()).toEqual({ shared: { a: 1 } });
});

test("an agent that joins a team later has the state of the others", async () => {
  const first = agentOf("cook", new Model(update({ a: 1 }), "Done."));
  await run(first, "Cook.");
  const model = new Model("Fine.");
  const later = agentOf("host", model);
  const heir = agentOf("cook", new Model("Fine."));
  heir.loadState(first.saveState());
  const team = new RoundRobinGroupChat([later, heir], {
    terminationCondition: new MaxMessageTermination(2),
  });
  await run(team, "Go on.");
  expect(seenBy(model)).toEqual([{ a: 1 }]);
});

test("a program reads, changes and clears the state", async () => {
  const memory = new SharedStateMemory();
  await memory.add({
    content: { a: { b: 1, c: 2 } },
    mime_type: "application/json",
    metadata: null,
  });
  await memory.add({ content: { a: { b: null } }, mime_type: "application/json", metadata: null });
  expect(memory.saveState()).toEqual({ shared: { a: { c: 2 } } });
  const text = { content: "a", mime_type: "text/plain" as const, metadata: null };
  expect(() => memory.add(text)).toThrow("content must be a JSON object of changes");
  await memory.clear();
  expect(memory.saveState()).toEqual({ shared: {} });
});

test("the memory is loaded from component JSON and dumped unchanged", () => {
  const registry = new ComponentRegistry().register(...coreComponents(new Catalog()));
  const model = {
    provider: "troupe.memory.SharedStateMemory",
    component_type: "memory",
    version: 1,
    component_version: 1,
    config: { name: "page" },
  };
  expect(dumpComponent(registry.load(model, "memory"))).toEqual(model);
});
