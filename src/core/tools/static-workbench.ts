import * as z from "zod";
import { componentModelSchema } from "../component/component-model.ts";
import {
  type AnyComponentDefinition,
  componentDefinition,
  type ComponentLoader,
  dumpComponent,
  withoutNulls,
} from "../component/component.ts";
import { inConfig, refuseWhereNew } from "../component/refused-where-new.ts";
import { type Issue, ValueError } from "../errors.ts";
import { pathOf } from "../issues.ts";
import { jsonObjectSchema } from "../json-object.ts";
import type { JsonObject } from "../json.ts";
import type { Message } from "../messages/message.ts";
import type { ToolSchema } from "../models/chat-completion-client.ts";
import { noApprovalSchema } from "../turn/human-approval.ts";
import type { Approved } from "../turn/turn-context.ts";
import { loadAll, parseState, statefulAt, stateSchemaOf } from "../state/load-state.ts";
import type { StateParts } from "../state/stateful.ts";
import { approvedCall } from "./approved-call.ts";
import { callTool } from "./call-tool.ts";
import { sequenceOf } from "./sequence.ts";
import { isStatefulTool } from "./stateful-tool.ts";
import {
  type AnyTool,
  isStreamTool,
  type StreamTool,
  type ToolCallContext,
  type ToolResult,
} from "./tool.ts";
import { toolNameMistakes } from "./tool-name.ts";
import { MAX_RESULT_BYTES, textResult } from "./tool-result.ts";
import type { Workbench } from "./workbench.ts";
import {
  aNumber,
  anything,
  aText,
  checkArgument,
  checkOptions,
  type OptionsSchema,
} from "../options/options.ts";
import { toolsSchema } from "./tools-schema.ts";

/** A name and description that replace the tool's own (AutoGen `ToolOverride`), each optional. */
export interface ToolOverride {
  name?: string | null | undefined;
  description?: string | null | undefined;
}

const toolOverrideSchema = z.object({
  name: z.string().nullish(),
  description: z.string().nullish(),
  approval: noApprovalSchema,
});
const staticWorkbenchConfigSchema = z.object({
  tools: z.array(componentModelSchema).default([]),
  tool_overrides: z.record(z.string(), toolOverrideSchema).default({}),
});
type StaticWorkbenchConfig = z.infer<typeof staticWorkbenchConfigSchema>;

const stateSchema = stateSchemaOf("StaticWorkbenchState").extend({
  tools: z.record(z.string(), jsonObjectSchema).default({}),
});

export interface StaticWorkbenchOptions {
  /** By the tools' own names. A tool can be called by its own name and by the overridden one. */
  toolOverrides?: { readonly [toolName: string]: ToolOverride } | undefined;
  /** Longer result texts are truncated, with a note. Default 1,000,000 bytes of UTF-8. */
  maxResultBytes?: number | undefined;
}

const optionsSchema: OptionsSchema<StaticWorkbenchOptions> = z.object({
  toolOverrides: z
    .record(
      z.string(),
      z.strictObject({ name: aText.nullish(), description: aText.nullish(), approval: anything }),
    )
    .optional(),
  maxResultBytes: aNumber.optional(),
});

/**
 * A fixed list of tools (AutoGen `StaticWorkbench`). The messages inside composite tools are not streamed; see
 * {@link StaticStreamWorkbench}.
 *
 * @throws ValueError when an override's name is taken
 */
export class StaticWorkbench implements Workbench {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_core.tools.StaticWorkbench",
    componentType: "workbench",
    role: "workbench",
    version: 1,
    configSchema: staticWorkbenchConfigSchema,
    refusals: findConfigMistakes,
    fromConfig: (config, loader) =>
      new StaticWorkbench(loadTools(config, loader), { toolOverrides: config.tool_overrides }),
  });

  readonly definition: Workbench["definition"] = StaticWorkbench.component;
  readonly #tools: readonly AnyTool[];
  readonly #overrides: { readonly [toolName: string]: ToolOverride };
  readonly #maxResultBytes: number;
  readonly #byName = new Map<string, AnyTool>();
  readonly #schemas: ToolSchema[];

  constructor(tools: readonly AnyTool[], options: StaticWorkbenchOptions = {}) {
    const owner = "StaticWorkbench";
    const checked = checkOptions(optionsSchema, options, owner);
    const { toolOverrides = {}, maxResultBytes = MAX_RESULT_BYTES } = checked;
    this.#tools = checkArgument(toolsSchema, tools, owner, "tools");
    this.#overrides = toolOverrides;
    this.#maxResultBytes = maxResultBytes;
    for (const tool of tools) {
      if (!this.#byName.has(tool.name)) this.#byName.set(tool.name, tool);
    }
    const names = tools.map(({ name }) => name);
    refuseWhereNew(owner, findMistakes(names, toolOverrides));
    this.#addShownNames();
    this.#schemas = tools.map((tool) => overridden(tool.schema, toolOverrides[tool.name]));
  }

  listTools(): Promise<ToolSchema[]> {
    return Promise.resolve(this.#schemas);
  }

  // oxlint-disable-next-line require-yield -- the messages of composite tools are not streamed here
  async *callTool(
    name: string,
    args: JsonObject,
    call: ToolCallContext,
  ): AsyncGenerator<Message, ToolResult, void> {
    const items = this.streamTool(name, args, { ...call, unseen: true });
    for (;;) {
      const next = await items.next();
      if (next.done) return next.value;
    }
  }

  /** A call that streams the messages of composite tools. */
  protected streamTool(
    name: string,
    args: JsonObject,
    call: ToolCallContext,
  ): AsyncGenerator<Message, ToolResult, void> {
    const tool = this.#byName.get(name);
    if (tool === undefined) return notFound(name);
    const { approval } = tool;
    const run = (input: JsonObject, by?: Approved) =>
      callTool(tool, name, input, { ...call, approval: by }, this.#maxResultBytes);
    const inLine = (calling: () => AsyncGenerator<Message, ToolResult, void>) =>
      isStatefulTool(tool) ? sequenceOf(tool).run(calling, call.ctx.signal) : calling();
    return approval === undefined
      ? inLine(() => run(args))
      : approvedCall(
          { tool, component: identityOf(tool), approval, name, args, call },
          run,
          inLine,
        );
  }

  reset(): Promise<void> {
    return Promise.resolve();
  }

  async onPause(): Promise<void> {
    for (const tool of this.#composites) await tool.onPause?.();
  }

  async onResume(): Promise<void> {
    for (const tool of this.#composites) await tool.onResume?.();
  }

  async close(): Promise<void> {
    for (const tool of this.#composites) await tool.close?.();
  }

  saveState(): JsonObject {
    return {
      type: "StaticWorkbenchState",
      tools: Object.fromEntries(
        this.#tools.map((tool) => [tool.name, isStatefulTool(tool) ? tool.saveState() : {}]),
      ),
    };
  }

  loadState(state: JsonObject): void {
    const { tools } = parseState(stateSchema, state, "a workbench's state");
    loadAll(
      this.#tools.flatMap((tool) => {
        const saved = tools[tool.name];
        return isStatefulTool(tool) && saved !== undefined
          ? [[statefulAt(`tools.${tool.name}`, tool), saved]]
          : [];
      }),
    );
  }

  stateParts(): StateParts {
    const stateful = this.#tools.filter(isStatefulTool);
    return { children: Object.fromEntries(stateful.map((tool) => [tool.name, tool])) };
  }

  toConfig(): JsonObject {
    return {
      tools: this.#tools.map((tool) => dumpComponent(tool)),
      tool_overrides: Object.fromEntries(
        Object.entries(this.#overrides).map(([name, override]) => [
          name,
          withoutNulls({ ...override }),
        ]),
      ),
    };
  }

  get #composites(): StreamTool[] {
    return this.#tools.filter(isStreamTool);
  }

  #addShownNames(): void {
    for (const [original, { name }] of Object.entries(this.#overrides)) {
      if (name == null || name === "" || name === original) continue;
      if (this.#byName.has(name)) {
        const message = `the name "${name}" of the override for "${original}" is taken by another tool`;
        throw new ValueError(message, {
          issues: [{ path: pathOf(["tool_overrides", original, "name"]), message }],
        });
      }
      const tool = this.#byName.get(original);
      if (tool !== undefined) this.#byName.set(name, tool);
    }
  }
}

/** Names that makers of models refuse, and tools that cannot be called because an earlier one has their name. */
function findMistakes(
  names: readonly unknown[],
  overrides: NonNullable<StaticWorkbenchOptions["toolOverrides"]>,
): Issue[] {
  const same = names.flatMap((name, index) => {
    const first = names.indexOf(name);
    if (typeof name !== "string" || first === index) return [];
    const message = `has the name of tools[${first}], "${name}": give it another name`;
    return [{ path: `tools[${index}]`, message }];
  });
  const renamed = Object.entries(overrides).flatMap(([original, { name }]) =>
    name ? toolNameMistakes(name, pathOf(["tool_overrides", original, "name"])) : [],
  );
  return [...same, ...renamed];
}

/** The names of agents and of MCP tools are not in the config of the tool; an agent offers the model only the first of two. */
function findConfigMistakes({ tools, tool_overrides }: StaticWorkbenchConfig): Issue[] {
  const names = tools.map(({ config }) => config["name"]);
  return inConfig(findMistakes(names, tool_overrides));
}

function loadTools(config: StaticWorkbenchConfig, loader: ComponentLoader): AnyTool[] {
  return config.tools.map((tool, index) => loader.load<AnyTool>(tool, "tool", `tools[${index}]`));
}

/** A tool as component JSON has it; one that cannot be written there is known by its schema. */
function identityOf(tool: AnyTool): unknown {
  try {
    return dumpComponent(tool);
  } catch {
    return { schema: tool.schema, approval: tool.approval };
  }
}

// oxlint-disable-next-line require-yield -- has the signature of a call
async function* notFound(name: string): AsyncGenerator<never, ToolResult, void> {
  return textResult(name, `Tool ${name} not found.`, true);
}

function overridden(schema: ToolSchema, override: ToolOverride | undefined): ToolSchema {
  if (override === undefined) return schema;
  return {
    ...schema,
    name: override.name || schema.name,
    description: override.description ?? schema.description ?? "",
  };
}

/** A fixed list of tools that streams the messages of agents and teams used as tools (AutoGen `StaticStreamWorkbench`). */
export class StaticStreamWorkbench extends StaticWorkbench {
  static override readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_core.tools.StaticStreamWorkbench",
    componentType: "workbench",
    role: "workbench",
    version: 1,
    configSchema: staticWorkbenchConfigSchema,
    refusals: findConfigMistakes,
    fromConfig: (config, loader) =>
      new StaticStreamWorkbench(loadTools(config, loader), {
        toolOverrides: config.tool_overrides,
      }),
  });

  override readonly definition: Workbench["definition"] = StaticStreamWorkbench.component;

  override callTool(
    name: string,
    args: JsonObject,
    call: ToolCallContext,
  ): AsyncGenerator<Message, ToolResult, void> {
    return this.streamTool(name, args, call);
  }
}
