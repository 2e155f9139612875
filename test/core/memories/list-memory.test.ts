import { describe, expect, test } from "vitest";
import { ListMemory, StateError, UnboundedChatCompletionContext } from "troupe";
import type { MemoryContent } from "troupe";

const text = (content: string): MemoryContent => ({
  content,
  mime_type: "text/plain",
  metadata: null,
});
const json: MemoryContent = { content: { a: 1 }, mime_type: "application/json", metadata: null };

describe("ListMemory", () => {
  test("gives the model all entries as one system message", async () => {
    const memory = new ListMemory("notes", [text("likes tea")]);
    await memory.add(json);
    const context = new UnboundedChatCompletionContext();
    expect(await memory.updateContext(context)).toEqual([text("likes tea"), json]);
    expect(await context.getMessages()).toEqual([
      {
        content: "\nRelevant memory content (in chronological order):\n1. likes tea\n2. {'a': 1}\n",
        type: "SystemMessage",
      },
    ]);
  });

  test("adds nothing while it is empty", async () => {
    const memory = new ListMemory(null, [text("x")]);
    await memory.clear();
    const context = new UnboundedChatCompletionContext();
    expect(await memory.updateContext(context)).toEqual([]);
    expect(await context.getMessages()).toEqual([]);
    expect(memory.name).toBe("default_list_memory");
  });

  test("moves its state to another memory", async () => {
    const memory = new ListMemory();
    await memory.add(text("x"));
    const other = new ListMemory("other", [json]);
    other.loadState(memory.saveState());
    expect(await other.query()).toEqual([text("x")]);
  });

  test("keeps its entries when a state does not fit", async () => {
    const memory = new ListMemory(null, [json]);
    expect(() => memory.loadState({ memory_contents: [{}] })).toThrow(StateError);
    expect(await memory.query()).toEqual([json]);
  });

  test("dumps its entries without empty metadata", () => {
    expect(new ListMemory("n", [json]).toConfig()).toEqual({
      name: "n",
      memory_contents: [{ content: { a: 1 }, mime_type: "application/json" }],
    });
  });
});
