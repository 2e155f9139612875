import type { FormatCode } from "../../../contract/stream/stream-format.ts";
import type { ComponentModel } from "../../../core/component/component-model.ts";
import { isJsonObject, type Json } from "../../../core/json.ts";
import { withLive } from "../about.ts";

/** Notes the agent whose texts are the answer, for this stream and for later ones of the run. */
export const noteLiveAgent: NonNullable<FormatCode["prepare"]> = (
  { input, options },
  component,
) => {
  const live = liveAgent(component);
  return {
    input: { ...input, metadata: withLive(input.metadata, live) },
    options: { ...options, live },
  };
};

/**
 * The name of a component's agent if all it says is the answer: a single agent whose answers are texts, alone or as the only
 * participant of a round robin of one turn. In other teams, only the end tells which message was the last.
 */
function liveAgent(component: ComponentModel): string | null {
  return nameOf(soleParticipant(component) ?? component);
}

function soleParticipant({ provider, config }: ComponentModel): ComponentModel | undefined {
  if (!/(^|\.)RoundRobinGroupChat$/.test(provider) || config["max_turns"] !== 1) return undefined;
  const { participants } = config;
  const [only, ...others] = Array.isArray(participants) ? participants : [];
  return others.length === 0 && isComponent(only) ? only : undefined;
}

function isComponent(value: Json | undefined): value is Json & ComponentModel {
  return isJsonObject(value) && typeof value.provider === "string" && isJsonObject(value.config);
}

function nameOf({ component_type, provider, config }: ComponentModel): string | null {
  const isAgent = component_type == null ? provider.endsWith("Agent") : component_type === "agent";
  const isText = (config["structured_message_factory"] ?? null) === null;
  return isAgent && isText && typeof config["name"] === "string" ? config["name"] : null;
}
