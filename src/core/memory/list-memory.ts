import * as z from "zod";
import { type ComponentDefinition, withoutNulls } from "../component/component.ts";
import type { ChatCompletionContext } from "../context/chat-completion-context.ts";
import { StateError } from "../errors.ts";
import { issuesOf, listIssues } from "../issues.ts";
import type { Json, JsonObject } from "../json.ts";
import { pythonStr } from "../text/python.ts";
import type { Memory } from "./memory.ts";
import { type MemoryContent, memoryContentSchema } from "./memory-content.ts";

const contentsSchema = z.array(memoryContentSchema);

const configSchema = z.object({
  name: z.string().nullish(),
  memory_contents: contentsSchema.default([]),
});

const stateSchema = z.object({ memory_contents: contentsSchema });

/** Remembers a short list and gives all of it to the model, oldest first (AutoGen `ListMemory`). */
export class ListMemory implements Memory {
  static readonly component: ComponentDefinition<z.infer<typeof configSchema>, ListMemory> = {
    provider: "autogen_core.memory.ListMemory",
    componentType: "memory",
    role: "memory",
    version: 1,
    configSchema,
    fromConfig: (config) => new ListMemory(config.name, config.memory_contents),
  };

  readonly definition = ListMemory.component;
  readonly name: string;
  #contents: readonly MemoryContent[];

  constructor(name?: string | null, contents: readonly MemoryContent[] = []) {
    this.name = name || "default_list_memory";
    this.#contents = contents;
  }

  /** Adds one system message with everything remembered; nothing when there is nothing. */
  updateContext(context: ChatCompletionContext): Promise<MemoryContent[]> {
    if (this.#contents.length > 0) {
      const lines = this.#contents.map(
        ({ content }, index) => `${index + 1}. ${asText(content)}\n`,
      );
      context.addMessage({
        content: `\nRelevant memory content (in chronological order):\n${lines.join("")}`,
        type: "SystemMessage",
      });
    }
    return Promise.resolve([...this.#contents]);
  }

  /** Everything, whatever is asked. */
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
    return { memory_contents: this.#contents as unknown as Json };
  }

  loadState(state: JsonObject): void {
    const { data, error } = stateSchema.safeParse(state);
    if (error) {
      const issues = issuesOf(error);
      throw new StateError(`not a state of the memory "${this.name}": ${listIssues(issues)}`, {
        issues,
      });
    }
    this.#contents = data.memory_contents;
  }

  toConfig(): JsonObject {
    return {
      name: this.name,
      memory_contents: this.#contents.map((content) => withoutNulls(content)),
    };
  }
}

/** Pictures cannot stand in a system message's text. */
function asText(content: MemoryContent["content"]): string {
  if (isPicture(content)) return "[image]";
  return pythonStr(content);
}

function isPicture(content: MemoryContent["content"]): boolean {
  return (
    typeof content === "object" &&
    memoryContentSchema.shape.content.options[1].safeParse(content).success
  );
}
