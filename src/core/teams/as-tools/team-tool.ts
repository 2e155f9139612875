import * as z from "zod";
import { componentModelSchema } from "../../component/component-model.ts";
import {
  type AnyComponentDefinition,
  type Component,
  componentDefinition,
  dumpComponent,
} from "../../component/component.ts";
import { inConfig, refuseWhereNew } from "../../component/refused-where-new.ts";
import type { JsonObject } from "../../json.ts";
import type { Runnable } from "../../run/runnable.ts";
import type { StateParts } from "../../state/stateful.ts";
import { TaskTool, type TaskToolOptions, taskToolOptionsSchema } from "./task-tool.ts";
import { toolNameMistakes } from "../../tools/tool-name.ts";
import {
  aTeam,
  aText,
  checkArgument,
  checkOptions,
  type OptionsSchema,
} from "../../options/options.ts";

const teamToolConfigSchema = z.object({
  name: z.string(),
  description: z.string(),
  team: componentModelSchema,
  return_value_as_last_message: z.boolean().default(false),
});

/** A team that can be dumped as component JSON. */
export type TeamComponent = Runnable & Component;

export interface TeamToolOptions extends TaskToolOptions {
  name: string;
  description: string;
}

const optionsSchema: OptionsSchema<TeamToolOptions> = taskToolOptionsSchema.extend({
  name: aText,
  description: aText,
});

/**
 * A team as a tool of an agent (AutoGen `TeamTool`). The team continues where its last call stopped; parallel calls run
 * in sequence.
 */
export class TeamTool extends TaskTool {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_agentchat.tools.TeamTool",
    componentType: "tool",
    role: "tool",
    version: 1,
    configSchema: teamToolConfigSchema,
    refusals: ({ name }) => inConfig(toolNameMistakes(name)),
    fromConfig: (config, loader) =>
      new TeamTool(loader.load<TeamComponent>(config.team, "team", "team"), {
        name: config.name,
        description: config.description,
        returnValueAsLastMessage: config.return_value_as_last_message,
      }),
  });

  readonly definition = TeamTool.component;
  readonly #team: TeamComponent;

  constructor(team: TeamComponent, given: TeamToolOptions) {
    checkArgument(aTeam, team, "TeamTool", "team");
    const checked = checkOptions(optionsSchema, given, "TeamTool");
    const { name, description, ...options } = checked;
    refuseWhereNew("TeamTool", toolNameMistakes(name));
    super(team, { name, description }, options);
    this.#team = team;
  }

  saveState(): JsonObject {
    return this.#team.saveState();
  }

  loadState(state: JsonObject): void {
    this.#team.loadState(state);
  }

  stateParts(): StateParts {
    return { children: { team: this.#team } };
  }

  toConfig(): JsonObject {
    return {
      name: this.name,
      description: this.description,
      team: dumpComponent(this.#team),
      return_value_as_last_message: this.returnValueAsLastMessage,
    };
  }
}
