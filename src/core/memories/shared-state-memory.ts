import * as z from "zod";
import {
  type AnyComponentDefinition,
  componentDefinition,
  withoutNulls,
} from "../component/component.ts";
import type { ChatCompletionContext } from "../context/chat-completion-context.ts";
import { ValueError } from "../errors.ts";
import { isJsonObject, type JsonObject } from "../json.ts";
import { jsonObjectSchema } from "../json-object.ts";
import { asData } from "../memory/as-data.ts";
import type { MemoryContent } from "../memory/memory-content.ts";
import { aText, checkOptions, type OptionsSchema } from "../options/options.ts";
import type { StateSharer } from "../run/run-observer.ts";
import { parseState } from "../state/load-state.ts";
import { merged, SharedState } from "../state/shared-state.ts";
import type { StreamTool } from "../tools/tool.ts";
import type { TurnContext } from "../turn/turn-context.ts";
import type { Memory } from "./memory.ts";
import { OwnTool } from "../tools/function/own-tool.ts";

const configSchema = z.object({ name: z.string().nullish() });

const stateSchema = z.object({ shared: jsonObjectSchema });

export interface SharedStateMemoryOptions {
  name?: string | null | undefined;
}

const optionsSchema: OptionsSchema<SharedStateMemoryOptions> = z.object({ name: aText.nullish() });

/** A change that the model has asked for: why it was refused, or null. */
type Outcome = string | null;

/**
 * The state that a team shares with the page of its user, over AG-UI: the agent sees it in its system message and changes it with
 * the tool `update_state`. All agents of a team that have this memory share one state, which changes when a turn commits.
 *
 * @example
 * const writer = new AssistantAgent({ name: "writer", modelClient, memory: [new SharedStateMemory()] });
 */
export class SharedStateMemory implements Memory, StateSharer {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "troupe.memory.SharedStateMemory",
    componentType: "memory",
    role: "memory",
    version: 1,
    configSchema,
    fromConfig: (config) => new SharedStateMemory(config),
  });

  readonly definition = SharedStateMemory.component;
  readonly name: string;
  readonly tools: readonly StreamTool[];
  #shared = new SharedState();
  /** The model's view: the state as of the agent's turn, with its own changes. */
  #seen: JsonObject = {};

  constructor(options: SharedStateMemoryOptions = {}) {
    this.name = checkOptions(optionsSchema, options, "SharedStateMemory").name || "shared_state";
    this.tools = [this.#updateTool()];
  }

  get shared(): SharedState {
    return this.#shared;
  }

  shareWith(shared: SharedState): void {
    this.#shared = shared;
  }

  /** The state is in the system message, not among the messages of the context. */
  async updateContext(_context: ChatCompletionContext, ctx: TurnContext): Promise<MemoryContent[]> {
    // Agents that work side by side change it in any order: a turn that runs again must see what it saw.
    const changed = await ctx.step("state", () => Promise.resolve(this.#shared.changed));
    this.#seen = changed ?? this.#shared.value;
    return [];
  }

  systemText({ memory }: TurnContext): string {
    const rules =
      "The user's page and you share a state. Change it with update_state whenever the task changes what it says.";
    return `${rules} ${asData("state", JSON.stringify(this.#seen), memory)}`;
  }

  query(): Promise<MemoryContent[]> {
    return Promise.resolve([
      { content: this.#shared.value, mime_type: "application/json", metadata: null },
    ]);
  }

  /** Changes the state as `update_state` does, by a JSON object. */
  add({ content }: MemoryContent): Promise<void> {
    if (!isJsonObject(content)) throw new ValueError("content must be a JSON object of changes");
    this.#shared.change(content, "content");
    return Promise.resolve();
  }

  clear(): Promise<void> {
    this.#shared.replace({});
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  saveState(): JsonObject {
    return { shared: this.#shared.value };
  }

  loadState(state: JsonObject): void {
    const { shared } = parseState(stateSchema, state, `a state of the memory "${this.name}"`);
    this.#shared.replace(shared);
  }

  toConfig(): JsonObject {
    return withoutNulls({ name: this.name });
  }

  #updateTool(): StreamTool {
    return new OwnTool(this.definition, {
      name: "update_state",
      description:
        "Changes the state that you share with the user's page. Only members that you name change.",
      parameters: z.object({
        changes: z
          .record(z.string(), z.unknown())
          .describe(
            "A JSON Merge Patch: an object is merged with what is there, null removes a member, any other value, also a list, replaces it.",
          ),
      }),
      run: async ({ changes }, { ctx }) => {
        const patch = changes as JsonObject;
        const refusal = await ctx.step<Outcome>("update", () => Promise.resolve(this.#try(patch)), {
          fingerprint: JSON.stringify(patch),
          onReplay: (outcome) => {
            if (outcome === null) this.#shared.apply(patch);
          },
        });
        if (refusal !== null) throw new ValueError(refusal);
        this.#seen = merged(this.#seen, patch);
        return "The state is changed.";
      },
    });
  }

  #try(patch: JsonObject): Outcome {
    try {
      this.#shared.change(patch, "changes");
      return null;
    } catch (error) {
      if (error instanceof ValueError) return error.message;
      throw error;
    }
  }
}
