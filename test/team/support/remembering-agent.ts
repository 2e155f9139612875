import type { ChatMessage, ComponentModel, TurnContext } from "troupe";
import type { MemoryScope } from "#core/memory/memory-host.ts";
import { agent } from "./team.ts";

/** The vectors of words in tests: the same for the same word. */
export function vectorOf(text: string): { space: string; values: number[] } {
  const values = Array.from({ length: 16 }, () => 0);
  for (const word of text.split(" ")) {
    let hash = 7;
    for (const character of word) hash = (hash * 31 + character.charCodeAt(0)) % 9973;
    values[hash % 16] = (values[hash % 16] ?? 0) + 1;
  }
  return { space: "test", values };
}

/** Called when an agent does `wait`. */
export type Hook = () => Promise<void> | void;

/**
 * An agent that does what its task says, a line at a time: `remember TEXT`, `replace ID TEXT`, `forget ID`, `clear`, `recall TEXT`,
 * `wait` or `fail`. It answers with what it recalled.
 */
export function remembering(
  name: string,
  scope: MemoryScope = "team",
  hook: Hook = () => {},
): ComponentModel {
  return agent(name, async function* (_self, ctx, messages) {
    yield* [];
    const task = lastText(messages);
    const recalled: string[] = [];
    for (const [index, line] of task.split("\n").entries()) {
      const [verb = "", ...rest] = line.split(" ");
      recalled.push(...(await act(ctx.scope(`line:${index}`), scope, verb, rest.join(" "), hook)));
    }
    return recalled.join(", ") || "done";
  });
}

async function act(
  ctx: TurnContext,
  scope: MemoryScope,
  verb: string,
  text: string,
  hook: Hook,
): Promise<string[]> {
  const store = ctx.memory.store(scope);
  if (store === undefined) return ["no memory"];
  const put = (id: string, content: string): void =>
    store.write({
      op: "put",
      id,
      content: { content, mime_type: "text/plain", metadata: null },
      collection: null,
      message: null,
      embedding: vectorOf(content),
    });
  switch (verb) {
    case "remember":
      put(ctx.id(), text);
      return [];
    case "replace": {
      const [id = "", ...content] = text.split(" ");
      put(id, content.join(" "));
      return [];
    }
    case "forget":
      store.write({ op: "forget", id: text });
      return [];
    case "clear":
      store.write({ op: "clear", collection: null });
      return [];
    case "recall": {
      const query = { text, embedding: vectorOf(text), k: 10, collection: null };
      const recall = async () => {
        const { hits } = await store.recall(query);
        return hits.map(({ entry }) => JSON.stringify(entry.content).slice(1, -1));
      };
      return store.remote ? ctx.step("recall", recall) : recall();
    }
    case "wait":
      await ctx.step("wait", async () => {
        await hook();
        return null;
      });
      return [];
    default:
      throw new Error(`cannot ${verb}`);
  }
}

function lastText(messages: readonly ChatMessage[]): string {
  const last = messages.at(-1);
  return last?.type === "TextMessage" ? last.content : "";
}
