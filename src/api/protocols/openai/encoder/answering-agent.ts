import type { FormatCode } from "../../../../contract/stream/stream-format.ts";
import { ok, type Result } from "../../../../contract/result.ts";
import type { ComponentModel } from "../../../../core/component/component-model.ts";
import type { AnswerForm } from "../../../../core/models/chat-completion-client.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../../core/json.ts";
import { withLive } from "../request/response-settings.ts";

/**
 * Notes the agent whose texts are the answer, for this stream and for later ones of the run, and passes on to it how the client wants
 * to be answered.
 *
 * @param format the request's field with the form of the answer
 */
export function answeringAgent(format: string): NonNullable<FormatCode["prepare"]> {
  return ({ input, options }, component) => {
    const agent = soleParticipant(component) ?? component;
    const live = liveAgent(agent);
    const { answer_form: wanted, ...others } = input;
    const form = wanted && formFor(wanted, { agent, component, format });
    if (form?.ok === false) return form;
    return ok({
      input: {
        ...others,
        metadata: withLive(input.metadata, live),
        ...(form?.value && { answer_form: form.value }),
      },
      options: { ...options, live },
    });
  };
}

/** The form of the answer for the agent's model; undefined if the agent's own settings decide. */
function formFor(
  { jsonOutput, toolChoice, stop }: AnswerForm,
  {
    agent,
    component,
    format,
  }: { agent: ComponentModel; component: ComponentModel; format: string },
): Result<AnswerForm | undefined> {
  const name = isAssistant(agent) ? agent.config["name"] : undefined;
  const isStructured = name === undefined ? hasFactory(component) : hasFactory(agent);
  const ownFormat = jsonOutput === undefined || isStructured;
  if (ownFormat && toolChoice === undefined) {
    // The client's text ends there whichever agent answers.
    return ok(stop !== undefined && typeof name === "string" ? { agent: name, stop } : undefined);
  }
  const path = ownFormat ? "tool_choice" : format;
  if (typeof name !== "string") {
    return refuse(
      path,
      "can be given to a team with one assistant agent alone, whose model gets it",
    );
  }
  const info = modelInfo(agent);
  if (!ownFormat && info[jsonOutput === true ? "json_output" : "structured_output"] === false) {
    return refuse(path, `cannot be given: the model of ${name} does not write such JSON`);
  }
  if (toolChoice !== undefined && info["function_calling"] === false) {
    return refuse("tool_choice", `cannot be given: the model of ${name} does not call functions`);
  }
  return ok({
    agent: name,
    ...(!ownFormat && { jsonOutput }),
    ...(toolChoice !== undefined && { toolChoice }),
    ...(stop !== undefined && { stop }),
  });
}

function refuse(path: string, message: string): Result<never> {
  return {
    ok: false,
    problem: {
      status: 422,
      code: "unsupported_parameter",
      detail: "A parameter is not supported:",
      errors: [{ path, message }],
    },
  };
}

/**
 * The name of a component's agent if all it says is the answer: a single agent whose answers are texts, alone or as the only
 * participant of a round robin of one turn. In other teams, only the end of the run shows which message was the last.
 */
function liveAgent(agent: ComponentModel): string | null {
  const { component_type, provider, config } = agent;
  const isAgent = component_type == null ? provider.endsWith("Agent") : component_type === "agent";
  const isText = (config["structured_message_factory"] ?? null) === null;
  return isAgent && isText && typeof config["name"] === "string" ? config["name"] : null;
}

function soleParticipant({ provider, config }: ComponentModel): ComponentModel | undefined {
  if (!/(^|\.)RoundRobinGroupChat$/.test(provider) || config["max_turns"] !== 1) return undefined;
  const [only, ...others] = participantsOf(config);
  return others.length === 0 ? only : undefined;
}

function participantsOf({ participants }: JsonObject): ComponentModel[] {
  return Array.isArray(participants) ? participants.filter(isComponent) : [];
}

function isAssistant({ provider }: ComponentModel): boolean {
  return /(^|\.)AssistantAgent$/.test(provider);
}

/** True if it, or one of its participants, answers with structured messages. */
function hasFactory({ config }: ComponentModel): boolean {
  return (
    (config["structured_message_factory"] ?? null) !== null ||
    participantsOf(config).some(hasFactory)
  );
}

/** Model settings of the component; defaults come from the model's name. */
function modelInfo({ config }: ComponentModel): JsonObject {
  const client = config["model_client"];
  const info = isComponent(client) ? client.config["model_info"] : undefined;
  return isJsonObject(info) ? info : {};
}

function isComponent(value: Json | undefined): value is Json & ComponentModel {
  return isJsonObject(value) && typeof value.provider === "string" && isJsonObject(value.config);
}
