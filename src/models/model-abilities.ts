import { ValueError } from "../core/errors.ts";
import type { JsonOutput } from "../core/models/chat-completion-client.ts";
import type { ModelInfo } from "../core/models/model-info.ts";

/** Refuses requests that a model cannot serve, before anything is sent. */
export class ModelAbilities {
  readonly #model: string;
  readonly #info: ModelInfo;

  constructor(model: string, info: ModelInfo) {
    this.#model = model;
    this.#info = info;
  }

  /** Whether the model is shown images. */
  get sees(): boolean {
    return this.#info.vision;
  }

  /** @throws ValueError for a model without function calling */
  checkTools(): void {
    if (!this.#info.functionCalling)
      throw new ValueError(
        `The model '${this.#model}' cannot call functions (model_info.function_calling is false)`,
      );
  }

  /** @throws ValueError for a model without vision */
  checkImage(source: string): void {
    if (!this.#info.vision)
      throw new ValueError(
        `The model '${this.#model}' cannot see images, and a message of '${source}' has one (model_info.vision is false)`,
      );
  }

  /** @throws ValueError for a model without that kind of JSON output */
  checkOutput(output: JsonOutput): void {
    if (output === true && !this.#info.jsonOutput)
      throw new ValueError(
        `The model '${this.#model}' has no JSON mode (model_info.json_output is false)`,
      );
    if (typeof output === "object" && this.#info.structuredOutput !== true)
      throw new ValueError(
        `The model '${this.#model}' has no structured output (model_info.structured_output is not true)`,
      );
  }
}
