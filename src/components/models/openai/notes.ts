import type { Note } from "../../../core/component/component.ts";
import { isOpenAI } from "../../../core/models/model-family.ts";
import type { KnownModel } from "../catalogue/known-model.ts";
import type { OpenAIConfig } from "./config.ts";
import { WITHOUT_EFFECT } from "./responses/request-body.ts";
import { needsResponses } from "./attempts.ts";

type Asked = Pick<OpenAIConfig, "model" | "api" | "reasoning_effort"> & {
  [name: string]: unknown;
};

/**
 * Notes on settings that OpenAI's server would refuse or ignore, with the remedy. There are none for other servers.
 *
 * @param isMakers whether the server is OpenAI's or Azure's own
 */
export function openAINotes(
  config: Asked,
  catalogued: KnownModel | undefined,
  isMakers: boolean,
): Note[] {
  if (catalogued === undefined || !isMakers) return [];
  const byResponses =
    config.api === "responses" ||
    (config.api !== "chat_completions" && needsResponses(catalogued, config.reasoning_effort));
  return [
    ...apiNotes(config, catalogued),
    ...(byResponses ? withoutEffect(config) : namesNotes(config, catalogued)),
    ...reasoningNotes(config, catalogued),
  ];
}

function apiNotes({ model, api, reasoning_effort }: Asked, catalogued: KnownModel): Note[] {
  if (api !== "chat_completions" || !needsResponses(catalogued, reasoning_effort)) return [];
  const message =
    catalogued.responses === "always"
      ? `OpenAI serves '${model}' by the Responses API alone: leave api out, or make it "responses"`
      : `OpenAI's chat completions refuses tools and handoffs of '${model}' while it reasons: leave api out, or set ` +
        'reasoning_effort to "none"';
  return [{ path: "config.api", message }];
}

function withoutEffect(config: Asked): Note[] {
  return WITHOUT_EFFECT.filter((name) => config[name] != null).map((name) => ({
    path: `config.${name}`,
    message: `has no effect: the Responses API, by which '${config.model}' is asked, does not have it`,
  }));
}

/** Fields of chat completions that reasoning models have by another name, or not at all. */
function namesNotes(config: Asked, { reasons }: KnownModel): Note[] {
  if (reasons !== true) return [];
  return [
    ...(config["max_tokens"] == null
      ? []
      : [
          {
            path: "config.max_tokens",
            message: `is refused for '${config.model}': give max_completion_tokens instead`,
          },
        ]),
    ...(config["stop"] == null
      ? []
      : [{ path: "config.stop", message: `is refused for '${config.model}': leave it out` }]),
  ];
}

function reasoningNotes(config: Asked, catalogued: KnownModel): Note[] {
  const { model, reasoning_effort: effort } = config;
  if (catalogued.reasons !== true) {
    if (effort == null || !isOpenAI(catalogued.info.family)) return [];
    const message = `is refused for '${model}', which does not reason: leave it out`;
    return [{ path: "config.reasoning_effort", message }];
  }
  const canStop =
    catalogued.responses === "unless_none" ||
    catalogued.responses === "with_effort" ||
    catalogued.reasonsUnasked !== true;
  if (effort === "none" && !canStop) {
    const message = `"none" is refused for '${model}', which always reasons: leave it out`;
    return [{ path: "config.reasoning_effort", message }];
  }
  const isReasoning = effort == null ? catalogued.reasonsUnasked === true : effort !== "none";
  if (!isReasoning) return [];
  const remedy = canStop ? 'leave it out, or set reasoning_effort to "none"' : "leave it out";
  return ["temperature", "top_p"]
    .filter((name) => config[name] != null && config[name] !== 1)
    .map((name) => ({
      path: `config.${name}`,
      message: `is refused for '${model}' while it reasons: ${remedy}`,
    }));
}
