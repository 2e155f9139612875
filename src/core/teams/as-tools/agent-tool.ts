import * as z from "zod";
import type { ChatAgent } from "../../agents/chat-agent.ts";
import { componentModelSchema } from "../../component/component-model.ts";
import {
  type AnyComponentDefinition,
  componentDefinition,
  dumpComponent,
} from "../../component/component.ts";
import type { JsonObject } from "../../json.ts";
import { agentRunnable, responseOnly } from "../../agents/agent-runnable.ts";
import type { Runnable } from "../../run/runnable.ts";
import type { StateParts } from "../../state/stateful.ts";
import { TaskTool, type TaskToolOptions, taskToolOptionsSchema } from "./task-tool.ts";
import { fittingName, isToolName } from "../../tools/tool-name.ts";
import type { ToolCallContext } from "../../tools/tool.ts";
import { anAgent, checkArgument, checkOptions } from "../../options/options.ts";

const agentToolConfigSchema = z.object({
  agent: componentModelSchema,
  return_value_as_last_message: z.boolean().default(false),
});

/**
 * An agent as a tool of another (AutoGen `AgentTool`), under the agent's name and description. The agent's context spans
 * all calls; parallel calls run in sequence.
 */
export class AgentTool extends TaskTool {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_agentchat.tools.AgentTool",
    componentType: "tool",
    role: "tool",
    version: 1,
    configSchema: agentToolConfigSchema,
    notes: ({ agent: { config } }) => {
      const name = config["name"];
      if (typeof name !== "string" || isToolName(name)) return [];
      const message = `the agent's name "${name}" cannot be the name of a tool, because makers of models refuse it. Models call it "${fittingName(name)}" or, where that is taken, the same with a number at its end`;
      return [{ path: "config.agent", message }];
    },
    fromConfig: (config, loader) =>
      new AgentTool(loader.load<ChatAgent>(config.agent, "agent", "agent"), {
        returnValueAsLastMessage: config.return_value_as_last_message,
      }),
  });

  readonly definition = AgentTool.component;
  readonly #agent: ChatAgent;
  readonly #unseen: Runnable;

  constructor(agent: ChatAgent, options: TaskToolOptions = {}) {
    checkArgument(anAgent, agent, "AgentTool", "agent");
    checkOptions(taskToolOptionsSchema, options, "AgentTool");
    super(agentRunnable(agent), { name: agent.name, description: agent.description }, options);
    this.#agent = agent;
    this.#unseen = agentRunnable(agent, responseOnly);
  }

  /** Without a shown stream, only the response is part of the answer. */
  protected override runnableFor(call: ToolCallContext): Runnable {
    return call.unseen ? this.#unseen : super.runnableFor(call);
  }

  saveState(): JsonObject {
    return this.#agent.saveState();
  }

  loadState(state: JsonObject): void {
    this.#agent.loadState(state);
  }

  stateParts(): StateParts {
    return { children: { agent: this.#agent } };
  }

  toConfig(): JsonObject {
    return {
      agent: dumpComponent(this.#agent),
      return_value_as_last_message: this.returnValueAsLastMessage,
    };
  }
}
