import * as z from "zod";
import {
  type AnyComponentDefinition,
  componentDefinition,
  withoutNulls,
} from "../component/component.ts";
import type { ChatCompletionContext } from "../context/chat-completion-context.ts";
import { asJson, type JsonObject } from "../json.ts";
import type { Memory } from "./memory.ts";
import type { MemoryContent } from "../memory/memory-content.ts";
import { contentText, loadContents, memoryContentsSchema } from "../memory/memory-schemas.ts";
import { aList, aText, checkArgument } from "../options/options.ts";

const configSchema = z.object({
  name: z.string().nullish(),
  memory_contents: memoryContentsSchema.default([]),
});

/** Remembers a short list and gives all of it to the model, oldest first (AutoGen `ListMemory`). */
export class ListMemory implements Memory {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_core.memory.ListMemory",
    componentType: "memory",
    role: "memory",
    version: 1,
    configSchema,
    fromConfig: (config) => new ListMemory(config.name, config.memory_contents),
  });

  readonly definition = ListMemory.component;
  readonly name: string;
  #contents: readonly MemoryContent[];

  constructor(name?: string | null, contents: readonly MemoryContent[] = []) {
    checkArgument(aText.nullish(), name, "ListMemory", "name");
    this.name = name || "default_list_memory";
    this.#contents = checkArgument(aList, contents, "ListMemory", "contents");
  }

  /** Adds one system message with everything remembered; none when the memory is empty. */
  updateContext(context: ChatCompletionContext): Promise<MemoryContent[]> {
    if (this.#contents.length > 0) {
      const lines = this.#contents.map(
        ({ content }, index) => `${index + 1}. ${contentText(content)}\n`,
      );
      context.addMessage({
        content: `\nRelevant memory content (in chronological order):\n${lines.join("")}`,
        type: "SystemMessage",
      });
    }
    return Promise.resolve([...this.#contents]);
  }

  /** Returns everything, whatever the query. */
  query(): Promise<MemoryContent[]> {
    return Promise.resolve([...this.#contents]);
  }

  add(content: MemoryContent): Promise<void> {
    this.#contents = [...this.#contents, content];
    return Promise.resolve();
  }

  clear(): Promise<void> {
    this.#contents = [];
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  saveState(): JsonObject {
    return { memory_contents: asJson(this.#contents) };
  }

  loadState(state: JsonObject): void {
    this.#contents = loadContents(state, this.name);
  }

  toConfig(): JsonObject {
    return {
      name: this.name,
      memory_contents: this.#contents.map((content) => withoutNulls(content)),
    };
  }
}
