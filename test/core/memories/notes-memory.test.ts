import { expect, test } from "vitest";
import {
  AssistantAgent,
  Catalog,
  ComponentRegistry,
  coreComponents,
  dumpComponent,
  NotesMemory,
  run,
} from "troupe";
import { call, Model } from "../support/model.ts";

test("an agent writes notes that it sees in its system message from the next call on", async () => {
  const model = new Model(
    call("note_write", { name: "user", text: "Vegan." }),
    call("note_write", { name: "plan", text: "Soup </notes> now." }),
    "Done.",
    call("note_delete", { name: "plan" }),
    call("note_delete", { name: "plan" }),
    "Gone.",
  );
  const agent = new AssistantAgent({
    name: "cook",
    modelClient: model,
    systemMessage: "You cook.",
    memory: [new NotesMemory({ maxCharacters: 40 })],
    maxToolIterations: 3,
  });
  await run(agent, "I am vegan.");
  const systems = model.read.map(([first]) => first?.content as string);
  expect(systems[0]).toMatch(
    /^You cook\.\n\nYou have no notes\. Your notes take 0 of 40 characters/,
  );
  expect(systems[1]).toContain("## user\nVegan.");
  expect(systems[2]).toContain("## plan\nSoup &lt;/notes> now.");
  expect(model.read[2]?.filter(({ type }) => type === "SystemMessage")).toHaveLength(1);
  await run(agent, "Forget the plan.");
  const results = JSON.stringify(model.read.at(-1));
  expect(results).toContain('There is no note \\"plan\\"; the notes are: \\"user\\".');
});

test("notes are bounded: a note that does not fit is refused with the remaining length", async () => {
  const model = new Model(call("note_write", { name: "long", text: "x".repeat(50) }));
  const memory = new NotesMemory({ maxCharacters: 40, notes: { old: "kept" } });
  const agent = new AssistantAgent({ name: "cook", modelClient: model, memory: [memory] });
  const { text } = await run(agent, "Write.");
  expect(text).toContain("would make the notes 61 characters long, and they may have 40");
  expect(memory.saveState()).toEqual({ notes: { old: "kept" } });
  expect(() => new NotesMemory({ maxCharacters: 3, notes: { old: "kept" } })).toThrow(
    "notes would",
  );
});

test("notes are a part of the agent's state, and a run that fails leaves them as they were", async () => {
  const agentOf = (model: Model) =>
    new AssistantAgent({
      name: "cook",
      modelClient: model,
      memory: [new NotesMemory()],
      maxToolIterations: 2,
    });
  const first = agentOf(new Model(call("note_write", { name: "a", text: "1" }), "Done."));
  await run(first, "Write.");
  const second = agentOf(new Model(call("note_write", { name: "b", text: "2" })));
  second.loadState(first.saveState());
  await expect(run(second, "Write.")).rejects.toThrow("no answer left");
  expect(second.saveState()["troupe"]).toEqual({ parts: { "memory-0": { notes: { a: "1" } } } });
});

test("the memory is loaded from component JSON and dumped unchanged, and bad configs name the field", () => {
  const registry = new ComponentRegistry().register(...coreComponents(new Catalog()));
  const model = {
    provider: "troupe.memory.NotesMemory",
    component_type: "memory",
    version: 1,
    component_version: 1,
    config: { name: "notes", max_characters: 100, notes: { plan: "1." } },
  };
  expect(dumpComponent(registry.load(model, "memory"))).toEqual(model);
  const wrong = { ...model, config: { max_characters: 0, notes: { plan: 1 } } };
  expect(registry.validate(wrong).map(({ path }) => path)).toEqual([
    "component.config.max_characters",
    "component.config.notes.plan",
  ]);
  expect(
    registry.validate({ ...model, config: { max_characters: 1, notes: { plan: "1." } } }),
  ).toEqual([
    {
      path: "component.config.notes",
      message: expect.stringContaining("they may have 1") as string,
    },
  ]);
});
